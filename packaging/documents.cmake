# The documents as they are installed: those of the queue in one folder and those of the engine in
# another beside it, with links between them that lead there.
set(margay_queue_documents README.md api.md daemon.md ingest.md install.md policy.md quickstart.md
                           slurm.md trace.yaml troubleshooting.md)
set(margay_engine_documents engine.md formats.md numerics.md cpu.md cuda.md)

# FOLDER NAME...
function(margay_install_documents folder)
  set(other margay-engine)
  set(others ${margay_engine_documents})
  if(folder STREQUAL "margay-engine")
    set(other margay)
    set(others ${margay_queue_documents})
  endif()
  foreach(name IN LISTS ARGN)
    set(source ${PROJECT_SOURCE_DIR}/docs/${name})
    if(name STREQUAL "README.md")
      set(source ${PROJECT_SOURCE_DIR}/README.md)
    endif()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
    file(READ ${source} text)
    string(REPLACE "](docs/pictures/" "](" text "${text}")
    string(REPLACE "](docs/" "](" text "${text}")
    string(REPLACE "](LICENSE)" "](copyright)" text "${text}")
    # What stays in the source tree is only named.
    string(REGEX REPLACE "\\[([^]]*)\\]\\((bench|tests)/[^)]*\\)" "\\1" text "${text}")
    foreach(other_name IN LISTS others)
      string(REPLACE "](${other_name}" "](../${other}/${other_name}" text "${text}")
    endforeach()
    set(copy ${CMAKE_CURRENT_BINARY_DIR}/documents/${folder}/${name})
    file(WRITE ${copy} "${text}")
    install(FILES ${copy} DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${folder} COMPONENT ${folder})
  endforeach()
endfunction()
