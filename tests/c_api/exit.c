/* Programs that return from main() while a thread asks for kernels, at any time from the first request on: also while the compiler's library is
 * being opened and makes its static objects. Each is a child of a process that has used nothing of strew, so each opens that library
 * itself. The last child's first thread ends by pthread_exit(), after which kernels are still compiled.
 * Arguments: how many children in each mode (default 40), and the milliseconds between the ends of one and the next (default 2).
 * Exit: 0 right. The variable STREW_EXACT_SHAPES is 0, so that most requests compile. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "strew/strew.h"

enum { kStatus = 7 };

/* Asks for kernels of ever other ops, until the process ends. */
static void* ask(void* mode) {
  int i;
  for (i = 0;; ++i) {
    char text[300];
    strew_op* op = NULL;
    strew_prepared* prepared = NULL;
    strew_kernel_ref* kernel = NULL;
    strew_status status = NULL;
    strew_request request = STREW_REQUEST_INIT;
    request.compile = mode;
    snprintf(text, sizeof text,
             "strew1.scatter(operand=f32[%d,%d] indices=i32[3] updates=f32[3,%d] update_window_dims=[1] inserted_window_dims=[0] "
             "scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add oob=error)",
             100 + i, 4 + i % 3, 4 + i % 3);
    if (strew_op_parse(text, &op) != NULL || strew_prepare(op, &request, &prepared) != NULL) _exit(3);
    status = strew_get(strew_runtime_process(), prepared, STREW_NO_TIMEOUT, &kernel);
    if (status != NULL && strew_status_code(status) != STREW_CODE_CANCELLED) {
      printf("%s\n", strew_status_message(status));
      fflush(stdout);
      _exit(4);
    }
    strew_kernel_release(kernel);
    strew_prepared_free(prepared);
    strew_op_free(op);
    if (status != NULL) { /* the process ends */
      strew_status_free(status);
      return NULL;
    }
  }
}

/* Asks for one kernel after the first thread has ended, which is not the end of the process. */
static void* ask_later(void* unused) {
  strew_op* op = NULL;
  strew_prepared* prepared = NULL;
  strew_kernel_ref* kernel = NULL;
  usleep(50000);
  if (strew_op_parse("strew1.gather(operand=f32[9,4] indices=i32[3] result=f32[3,4] offset_dims=[1] collapsed_slice_dims=[0] "
                     "start_index_map=[0] index_vector_dim=1 slice_sizes=[1,4])",
                     &op) != NULL ||
      strew_prepare(op, NULL, &prepared) != NULL ||
      strew_get(strew_runtime_process(), prepared, STREW_NO_TIMEOUT, &kernel) != NULL)
    _exit(6);
  _exit(kStatus);
  return unused;
}

int main(int argc, char** argv) {
  const int children = argc > 1 ? atoi(argv[1]) : 40, step = argc > 2 ? atoi(argv[2]) : 2;
  int turn, wrong = 0;
  setenv("STREW_EXACT_SHAPES", "0", 1);
  for (turn = 0; turn <= 2 * children; ++turn) {
    pid_t child = 0;
    int status = 0;
    fflush(stdout);
    child = fork();
    if (child == 0) {
      pthread_t thread;
      alarm(60); /* a hang */
      if (turn == 2 * children) {
        if (pthread_create(&thread, NULL, ask_later, NULL) != 0) _exit(5);
        pthread_detach(thread);
        pthread_exit(NULL);
      }
      if (pthread_create(&thread, NULL, ask, turn % 2 == 0 ? "background" : "blocking") != 0) _exit(5);
      pthread_detach(thread); /* nobody joins it: the process ends while it runs */
      usleep((useconds_t)(turn / 2 * step * 1000));
      return kStatus;
    }
    if (child < 0 || waitpid(child, &status, 0) != child) return 2;
    if (WIFEXITED(status) && WEXITSTATUS(status) == kStatus) continue;
    printf("turn %d: %s %d\n", turn, WIFSIGNALED(status) ? "signal" : "exit status",
           WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    ++wrong;
  }
  if (wrong != 0) printf("%d of %d ended otherwise than by their exit status\n", wrong, 2 * children + 1);
  return wrong != 0;
}
