/* theta <- theta - h dL/dtheta for a deep network with slope `slope` for z <= 0.  It
   knows nothing of events.  N samples lie side by side; N is set when it is compiled.
   There are L layers of widths w[0..L]; theta holds of every layer W (row by row), then
   its biases.  x: w[0] N, y: w[L] N. */
#include <math.h>
#include <string.h>

#define EACH for (int i = 0; i < N; i++)

/* Derivatives of the loss of sample i in its outputs f, into d. */
static void pull(int loss, int outputs, double f[][N], const double *y, double d[][N]) {
  for (int k = 0; k < outputs; k++) EACH {
    double target = y[k * N + i];
    if (loss == 0) d[k][i] = f[k][i] - target;
    if (loss == 1) d[k][i] = -target / (1 + exp(target * f[k][i]));
    if (loss == 2) {
      double total = 0;
      for (int l = 0; l < outputs; l++) total += exp(f[l][i] - f[k][i]);
      d[k][i] = 1 / total - target;
    }
  }
}

void euler(int L, const int *w, int has_bias, int loss, const double *x,
           const double *y, double slope, double h, long steps, double *theta) {
  int first[L + 1], begin[L + 1], units = 0, size = 0, most = 0;
  for (int l = 0; l <= L; l++) {
    first[l] = units, begin[l] = size;
    units += w[l];
    if (l < L) size += w[l + 1] * (w[l] + has_bias);
    if (w[l] > most) most = w[l];
  }
  double out[units][N], gate[units][N], one[most][N], two[most][N];
  double(*d)[N] = one, (*back)[N] = two;
  memcpy(out, x, sizeof(double) * w[0] * N);
  const double share = h / N;
  for (long step = 0; step < steps; step++) {
    for (int l = 0; l < L; l++) {
      const double *W = theta + begin[l], *b = W + w[l] * w[l + 1];
      for (int j = 0; j < w[l + 1]; j++) {
        double z[N], *o = out[first[l + 1] + j], *g = gate[first[l + 1] + j];
        const double bias = has_bias ? b[j] : 0;
        EACH z[i] = bias;
        for (int q = 0; q < w[l]; q++) EACH z[i] += W[j * w[l] + q] * out[first[l] + q][i];
        if (l == L - 1) EACH g[i] = 1;
        else EACH g[i] = z[i] > 0 ? 1 : slope;
        EACH o[i] = g[i] * z[i];
      }
    }
    pull(loss, w[L], out + first[L], y, d);
    for (int l = L - 1; l >= 0; l--) {
      double *W = theta + begin[l], *b = W + w[l] * w[l + 1];
      for (int q = 0; q < w[l]; q++) EACH back[q][i] = 0;
      for (int j = 0; j < w[l + 1]; j++) {
        for (int q = 0; q < w[l]; q++) {
          double *at = W + j * w[l] + q, sum = 0;
          EACH back[q][i] += d[j][i] * *at;
#pragma omp simd reduction(+ : sum)
          EACH sum += d[j][i] * out[first[l] + q][i];
          *at -= share * sum;
        }
        double sum = 0;
        EACH sum += d[j][i];
        if (has_bias) b[j] -= share * sum;
      }
      if (l > 0)
        for (int q = 0; q < w[l]; q++) EACH back[q][i] *= gate[first[l] + q][i];
      double(*other)[N] = d;
      d = back, back = other;
    }
  }
}
