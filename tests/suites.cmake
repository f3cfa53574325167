# Adds one test of ctest for each suite of a GoogleTest program: read by ctest itself, with `name`,
# `program`, `report` (the folder of what GoogleTest reports), `properties`, and `thorough` (the suites
# that have this label) set. A process of its
# own for each test costs more than most of the tests do.
if(NOT EXISTS "${program}")
  add_test(${name}_NOT_BUILT ${name}_NOT_BUILT)
  return()
endif()
execute_process(COMMAND "${program}" --gtest_list_tests OUTPUT_VARIABLE listed RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${program} cannot list its tests: ${status}")
endif()
string(REGEX MATCHALL "(^|\n)[A-Za-z0-9_/]+[.]" suites "${listed}")
foreach(suite IN LISTS suites)
  string(REGEX REPLACE "[\n.]" "" suite "${suite}")
  string(REPLACE "/" "_" file "${name}.${suite}.xml")
  add_test("${name}.${suite}" "${program}" "--gtest_filter=${suite}.*" --gtest_brief=1
           "--gtest_output=xml:${report}/${file}")
  set_tests_properties("${name}.${suite}" PROPERTIES ${properties})
  list(FIND thorough "${suite}" at)
  if(NOT at EQUAL -1)
    set_tests_properties("${name}.${suite}" PROPERTIES LABELS thorough)
    list(REMOVE_AT thorough ${at})
  endif()
endforeach()
if(thorough)
  message(FATAL_ERROR "${name} has no suites ${thorough}")
endif()
