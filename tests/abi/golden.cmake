execute_process(COMMAND ${PROGRAM} OUTPUT_VARIABLE now RESULT_VARIABLE rc)
file(READ ${GOLDEN} golden)
if(NOT rc EQUAL 0 OR NOT now STREQUAL golden)
  file(WRITE ${GOLDEN}.now "${now}")
  message(FATAL_ERROR "The contract's sizes or offsets differ from ${GOLDEN} (see ${GOLDEN}.now). "
    "Fields may only be added at the end of a record, with a higher TFSDK_ABI_MINOR; then replace the golden file.")
endif()
