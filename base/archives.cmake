# With MARGAY_STATIC, what Debian's shared libraries are replaced by: its archives, each before those
# that it needs, so that the programs run on machines that have glibc and nothing of these. Debian
# has no archive of Highway: libhwy.so.1 is looked for in ../lib beside the programs' folder.
set(MARGAY_YAML_CPP yaml-cpp)
if(NOT MARGAY_STATIC)
  return()
endif()

function(margay_archives out)
  set(archives "")
  foreach(name IN LISTS ARGN)
    find_library(MARGAY_ARCHIVE_${name} lib${name}.a REQUIRED)
    list(APPEND archives ${MARGAY_ARCHIVE_${name}})
  endforeach()
  set(${out} ${archives} PARENT_SCOPE)
endfunction()
function(margay_take_archives target)
  margay_archives(archives ${ARGN})
  set_property(TARGET ${target} PROPERTY INTERFACE_LINK_LIBRARIES ${archives})
endfunction()

margay_archives(MARGAY_YAML_CPP yaml-cpp)
margay_take_archives(PkgConfig::FFTW fftw3f fftw3)
margay_take_archives(PkgConfig::CRYPTO crypto)
margay_take_archives(PkgConfig::CAIRO cairo fontconfig freetype png16 pixman-1 expat brotlidec
                     brotlicommon xcb-shm xcb-render Xrender Xext X11 xcb Xau Xdmcp z)
