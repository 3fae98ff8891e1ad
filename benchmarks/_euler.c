/* theta <- theta - h dL/dtheta for a two-layer network with slope `slope` for w.x <= 0.
   It knows nothing of events.  Eight neurons lie side by side; E inputs, K outputs and
   M = 8 B neurons are set when it is compiled. */
#include <math.h>

typedef double Vec __attribute__((vector_size(64)));
typedef long long Mask __attribute__((vector_size(64)));

/* Derivative of the loss of one sample in its prediction f. */
static double pull_of(int loss, double f, double y) {
  if (loss == 0) return f - y;
  if (loss == 1) return -y / (1 + exp(y * f));
  return -y * exp(-y * f);
}

/* x: n E, y: n K, share: n (sums to 1), w: B E, a: B K */
void euler(int n, const double *x, const double *y, const double *share, double slope,
           int loss, double h, long steps, double *weights, double *outputs) {
  Vec w[B * E], a[B * K];
  __builtin_memcpy(w, weights, sizeof w);
  __builtin_memcpy(a, outputs, sizeof a);
  const Vec zero = {0}, one = zero + 1.0, low = zero + slope;
  for (long step = 0; step < steps; step++) {
    Vec dw[B * E] = {{0}}, da[B * K] = {{0}};
    for (int i = 0; i < n; i++) {
      Vec active[B], phi[B], sum[K] = {{0}};
      double r[K];
      for (int b = 0; b < B; b++) {
        Vec at = zero;
        for (int e = 0; e < E; e++) at += w[b * E + e] * x[i * E + e];
        Mask on = at > zero;
        active[b] = (Vec)((on & (Mask)one) | (~on & (Mask)low));
        phi[b] = active[b] * at;
        for (int k = 0; k < K; k++) sum[k] += a[b * K + k] * phi[b];
      }
      for (int k = 0; k < K; k++) {
        Vec v = sum[k];
        double f = ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
        r[k] = h * share[i] * pull_of(loss, f, y[i * K + k]);
      }
      for (int b = 0; b < B; b++) {
        Vec pull = zero;
        for (int k = 0; k < K; k++) pull += r[k] * a[b * K + k];
        pull *= active[b];
        for (int e = 0; e < E; e++) dw[b * E + e] += pull * x[i * E + e];
        for (int k = 0; k < K; k++) da[b * K + k] += r[k] * phi[b];
      }
    }
    for (int j = 0; j < B * E; j++) w[j] -= dw[j];
    for (int j = 0; j < B * K; j++) a[j] -= da[j];
  }
  __builtin_memcpy(weights, w, sizeof w);
  __builtin_memcpy(outputs, a, sizeof a);
}
