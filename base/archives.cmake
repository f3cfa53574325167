# With MARGAY_STATIC, what Debian's shared libraries are replaced by: its archives, each before those
# that it needs, so that the programs run on machines that have glibc and nothing of these. Debian
# has no archive of Highway: libhwy.so.1 is looked for in ../lib beside the programs' folder.
function(margay_archives out)
  set(archives "")
  foreach(name IN LISTS ARGN)
    find_library(MARGAY_ARCHIVE_${name} lib${name}.a REQUIRED)
    list(APPEND archives ${MARGAY_ARCHIVE_${name}})
  endforeach()
  set(${out} ${archives} PARENT_SCOPE)
endfunction()

# margay_take_archives(target name ...): the imported target stands for these archives.
function(margay_take_archives target)
  if(MARGAY_STATIC)
    margay_archives(archives ${ARGN})
    set_property(TARGET ${target} PROPERTY INTERFACE_LINK_LIBRARIES ${archives})
  endif()
endfunction()

set(MARGAY_YAML_CPP yaml-cpp)
if(MARGAY_STATIC)
  margay_archives(MARGAY_YAML_CPP yaml-cpp)
endif()
