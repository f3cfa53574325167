# Decides whether this build has CUDA, as MARGAY_CUDA asks for it, and says so: sets MARGAY_WITH_CUDA.
# At file scope of the project: it enables a language.
set(MARGAY_WITH_CUDA OFF)
if(NOT MARGAY_CUDA MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "MARGAY_CUDA is '${MARGAY_CUDA}': say AUTO, ON or OFF")
endif()
if(MARGAY_CUDA STREQUAL "OFF")
  message(STATUS "CUDA: left out, as MARGAY_CUDA=OFF says")
  return()
endif()

set(missing "")
find_package(CUDAToolkit 12.0 QUIET)
if(NOT CUDAToolkit_FOUND)
  set(missing "no CUDA toolkit of version 12.0 or later was found")
else()
  find_path(MARGAY_CUFFT_HEADERS cufft.h PATHS ${CUDAToolkit_INCLUDE_DIRS} NO_DEFAULT_PATH)
endif()
if(CUDAToolkit_FOUND AND NOT MARGAY_CUFFT_HEADERS)
  set(missing "the CUDA toolkit in ${CUDAToolkit_BIN_DIR} has no cuFFT headers")
elseif(NOT missing)
  if(NOT DEFINED CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
    set(ENV{CUDACXX} ${CUDAToolkit_NVCC_EXECUTABLE})
  endif()
  # One architecture, so that the daily build stays quick; what is installed wants more (presets).
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 90)
  endif()
  include(CheckLanguage)
  check_language(CUDA)
  if(NOT CMAKE_CUDA_COMPILER)
    set(missing "${CUDAToolkit_NVCC_EXECUTABLE} cannot compile with this C++ compiler")
  endif()
endif()
if(missing)
  if(MARGAY_CUDA STREQUAL "ON")
    message(FATAL_ERROR "MARGAY_CUDA=ON, but ${missing}")
  endif()
  message(STATUS "CUDA: left out, for ${missing} (MARGAY_CUDA=AUTO)")
  return()
endif()

enable_language(CUDA)
set(MARGAY_WITH_CUDA ON)
# CMake 3.25 does not know yet how nvcc 13 is told its standard.
foreach(kind STANDARD EXTENSION)
  if(NOT CMAKE_CUDA20_${kind}_COMPILE_OPTION)
    set(CMAKE_CUDA20_${kind}_COMPILE_OPTION "-std=c++20")
  endif()
endforeach()
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
set(CMAKE_CUDA_EXTENSIONS OFF)

# The sanitizers watch the host's side of this on the CPU (tests/fakes); here they would watch the
# toolkit's.
target_compile_options(margay_flags INTERFACE "$<$<COMPILE_LANGUAGE:CUDA>:\
-Xcompiler=-Wall,-Wextra,-Wshadow,-Wno-missing-field-initializers,-ffp-contract=off>")
if(MARGAY_WERROR)
  target_compile_options(margay_flags INTERFACE
                         "SHELL:$<$<COMPILE_LANGUAGE:CUDA>:-Werror all-warnings>")
endif()
message(STATUS "CUDA: toolkit ${CUDAToolkit_VERSION}, for architecture ${CMAKE_CUDA_ARCHITECTURES} "
               "(MARGAY_CUDA=${MARGAY_CUDA})")
