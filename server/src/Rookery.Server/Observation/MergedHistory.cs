namespace Rookery.Server.Observation;

/// <summary>
/// Merges samples into spans of equal width, so that a history has at most a given number of points. The merge rule of
/// each figure applies (<see cref="FigureMerge"/>). A span without a sample is left out, so that gaps stay visible.
/// </summary>
internal sealed class MergedHistory
{
    private readonly double[] _sums = new double[Figures.Count];
    private readonly int[] _counts = new int[Figures.Count];

    /// <summary>Chooses the width of the spans.</summary>
    /// <param name="fromUnixSecond">First second.</param>
    /// <param name="toUnixSecond">Last second.</param>
    /// <param name="points">Number of points at most.</param>
    public MergedHistory(long fromUnixSecond, long toUnixSecond, int points)
    {
        long step = (long)SampleHistory.Span.TotalSeconds;
        // Spans begin at multiples of their width, so the range can touch one span more than the quotient.
        long width =
            Math.Min(toUnixSecond - fromUnixSecond, (long)SampleHistory.Retention.TotalSeconds)
            / Math.Max(1, points - 1);
        // Rounded up to a multiple of the step.
        SpanSeconds = Math.Max(step, (width + step - 1) / step * step);
    }

    /// <summary>Width of a span in seconds, a multiple of ten.</summary>
    public long SpanSeconds { get; }

    /// <summary>
    /// Merges samples, which must be in order of time; each row has the time of its span's beginning.
    /// </summary>
    public IEnumerable<SampleRow> Of(IEnumerable<SampleRow> samples)
    {
        long begin = long.MinValue;
        foreach (var sample in samples)
        {
            long second = sample.UnixMilliseconds / 1000;
            second -= second % SpanSeconds;
            if (second != begin)
            {
                if (begin != long.MinValue)
                {
                    yield return FinishSpan(begin);
                }

                begin = second;
                Array.Clear(_counts);
            }

            Add(sample.Figures);
        }

        if (begin != long.MinValue)
        {
            yield return FinishSpan(begin);
        }
    }

    private void Add(double[] figures)
    {
        for (int figure = 0; figure < figures.Length; figure++)
        {
            double value = figures[figure];
            if (double.IsNaN(value))
            {
                continue;
            }

            bool isFirst = _counts[figure]++ == 0;
            _sums[figure] = isFirst
                ? value
                : Figures.MergeOf((Figure)figure) switch
                {
                    FigureMerge.Largest => Math.Max(_sums[figure], value),
                    FigureMerge.Last => value,
                    _ => _sums[figure] + value,
                };
        }
    }

    private SampleRow FinishSpan(long second)
    {
        double[] figures = new double[Figures.Count];
        for (int figure = 0; figure < figures.Length; figure++)
        {
            figures[figure] =
                _counts[figure] == 0 ? double.NaN
                : Figures.MergeOf((Figure)figure) == FigureMerge.Mean ? _sums[figure] / _counts[figure]
                : _sums[figure];
        }

        return new SampleRow(second * 1000, figures);
    }
}
