/* A stranger's C program: one filter gradient through the installed C header and library.
 *   cc -std=c11 main.c $(pkg-config --cflags --libs convgrad)
 */
#include <convgrad/convgrad_c.h>
#include <stdio.h>

int main(void) {
  const float x[4] = {1, 2, 3, 4}, dy[1] = {10};
  float dw[4] = {0};
  convgrad_plan* plan = NULL;
  convgrad_buffers buffers = {sizeof buffers, x, sizeof x, dy, sizeof dy, dw, sizeof dw, NULL, 0, NULL};
  if (convgrad_plan_create_from_problem("n1c1h2w2_k1r2s2_valid_f32_filter_grad", NULL, &plan) != CONVGRAD_OK ||
      convgrad_plan_run(plan, &buffers) != CONVGRAD_OK) {
    fprintf(stderr, "%s\n", convgrad_last_message());
    return 1;
  }
  convgrad_plan_destroy(plan);
  printf("convgrad %s: %g %g %g %g\n", convgrad_version(), (double)dw[0], (double)dw[1], (double)dw[2], (double)dw[3]);
  return dw[0] == 10 && dw[1] == 20 && dw[2] == 30 && dw[3] == 40 ? 0 : 1;
}
