package main

import (
	"math"
	"math/rand/v2"
	"slices"
)

// resamples is how often the questions are drawn anew.
const resamples = 10_000

// difference is what a ranking has over another, over the same questions.
type difference struct {
	// mean of the questions' differences, and the interval that holds it in 95 % of the resamples.
	mean, low, high float64
	// p is the chance of a mean at least so far from 0 when there is no difference.
	p float64
}

// pairedBootstrap draws the questions with replacement. The interval is of the means drawn; p is
// two-sided, of the differences moved so that their mean is 0. The same seed gives the same.
// Source: Sakai, Evaluating Evaluation Metrics based on the Bootstrap, SIGIR 2006.
func pairedBootstrap(a, b []float64, seed uint64) difference {
	differences := make([]float64, len(a))
	var d difference
	for i := range a {
		differences[i] = a[i] - b[i]
		d.mean += differences[i] / float64(len(a))
	}
	random := rand.New(rand.NewPCG(seed, 0))
	means := make([]float64, resamples)
	further := 0
	for i := range means {
		for range differences {
			means[i] += differences[random.IntN(len(differences))]
		}
		means[i] /= float64(len(differences))
		if math.Abs(means[i]-d.mean) >= math.Abs(d.mean) {
			further++
		}
	}
	slices.Sort(means)
	d.low, d.high = means[resamples*25/1000], means[resamples*975/1000-1]
	// The sample itself is one of those that are possible.
	d.p = float64(further+1) / float64(resamples+1)
	return d
}
