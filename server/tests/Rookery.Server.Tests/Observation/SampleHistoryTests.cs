using Rookery.Platform;
using Rookery.Server.Observation;

namespace Rookery.Server.Tests.Observation;

/// <summary>The samples of a node's figures of the last day, in compressed memory.</summary>
public sealed class SampleHistoryTests
{
    private const long MillisecondsPerSample = 10_000;
    private const int SamplesPerHour = 360;
    private const int SamplesOfADay = 24 * SamplesPerHour;

    // The Unix time of the first sample, in November 2023.
    private const long FirstUnixMilliseconds = 1_700_000_000_000;

    private readonly MemoryBudget _budget = new(64 << 20);
    private readonly MemoryShare _memory;

    public SampleHistoryTests() => _memory = _budget.AddShare("observation", limitBytes: 64 << 20);

    [Fact]
    public void Samples_are_read_back_rounded_to_their_steps_with_unknown_values()
    {
        var history = new SampleHistory(_memory);
        var random = new Random(7);
        var added = new List<SampleRow>();
        for (int sample = 0; sample < 2000; sample++)
        {
            double[] figures = new double[Figures.Count];
            for (int figure = 0; figure < figures.Length; figure++)
            {
                figures[figure] = random.Next(5) switch
                {
                    0 => double.NaN, // unknown
                    1 => 0,
                    2 => -random.NextDouble() * 1e4,
                    3 => Math.Round(random.NextDouble() * 1e13),
                    _ => random.NextDouble(),
                };
            }

            added.Add(
                new SampleRow(FirstUnixMilliseconds + (sample * MillisecondsPerSample) + random.Next(100), figures)
            );
            history.Add(added[^1].UnixMilliseconds, figures);
        }

        var read = history.Between(long.MinValue, long.MaxValue).ToList();
        var expected = added[^read.Count..];
        Assert.Equal(expected.Select(row => row.UnixMilliseconds), read.Select(row => row.UnixMilliseconds));
        foreach (var (one, other) in expected.Zip(read))
        {
            for (int figure = 0; figure < one.Figures.Length; figure++)
            {
                Assert.True(
                    double.IsNaN(one.Figures[figure]) == double.IsNaN(other.Figures[figure]),
                    Figures.NameOf((Figure)figure)
                );
                if (!double.IsNaN(one.Figures[figure]))
                {
                    Assert.InRange(
                        Math.Abs(one.Figures[figure] - other.Figures[figure]),
                        0,
                        (Figures.StepOf((Figure)figure) / 2) + (Math.Abs(one.Figures[figure]) * 1e-12)
                    );
                }
            }
        }
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_day_of_three_nodes_takes_at_most_4_MiB_idle_and_busy(bool isBusy)
    {
        SampleHistory[] nodes = [new(_memory), new(_memory), new(_memory)];
        var random = new Random(7);
        for (int sample = 0; sample < SamplesOfADay; sample++)
        {
            foreach (var node in nodes)
            {
                node.Add(
                    FirstUnixMilliseconds + (sample * MillisecondsPerSample),
                    isBusy ? BusyFigures(random, sample) : IdleFigures(random, sample)
                );
            }
        }

        // The whole day, not only what fits.
        Assert.All(nodes, node => Assert.Equal(SamplesOfADay, node.Between(long.MinValue, long.MaxValue).Count()));
        Assert.InRange(nodes.Sum(node => node.TakenBytes), 1, 4 << 20);
        Assert.Equal(nodes.Sum(node => node.TakenBytes), _memory.UsedBytes);
    }

    [Fact]
    public void A_history_stays_within_its_memory_and_keeps_the_newest_samples()
    {
        var history = new SampleHistory(_memory);
        var random = new Random(7);
        double[] figures = new double[Figures.Count];
        for (int sample = 0; sample < SamplesOfADay; sample++)
        {
            for (int figure = 0; figure < figures.Length; figure++)
            {
                figures[figure] = random.NextDouble() * 1e12;
            }

            history.Add(sample * MillisecondsPerSample, figures);
        }

        Assert.InRange(history.TakenBytes, 1, SampleHistory.MaxBytes);
        Assert.Equal(
            (SamplesOfADay - 1) * MillisecondsPerSample,
            history.Between(long.MinValue, long.MaxValue).Last().UnixMilliseconds
        );
    }

    [Fact]
    public void Samples_older_than_a_day_are_dropped()
    {
        var history = new SampleHistory(_memory);
        for (int sample = 0; sample < 2 * SamplesOfADay; sample++)
        {
            history.Add(sample * MillisecondsPerSample, IdleFigures(new Random(sample), sample));
        }

        // Chunks are dropped as a whole, so some hundred more samples may be left.
        Assert.InRange(
            history.Between(long.MinValue, long.MaxValue).First().UnixMilliseconds,
            (SamplesOfADay - 2000) * MillisecondsPerSample,
            SamplesOfADay * MillisecondsPerSample
        );
        Assert.Equal(history.TakenBytes, _memory.UsedBytes);
    }

    [Theory]
    [InlineData(-3600)]
    [InlineData(-30L * 365 * 24 * 3600)]
    [InlineData(30L * 365 * 24 * 3600)]
    public void A_changed_clock_drops_no_samples(long seconds)
    {
        var history = new SampleHistory(_memory);
        for (int sample = 0; sample < 12 * SamplesPerHour; sample++)
        {
            history.Add(
                FirstUnixMilliseconds + (sample * MillisecondsPerSample),
                BusyFigures(new Random(sample), sample)
            );
        }

        var kept = history.Between(long.MinValue, long.MaxValue).Select(row => row.UnixMilliseconds).ToList();

        // The clock is changed for two samples, and then put right.
        long changedTime = kept[^1] + (seconds * 1000);
        history.Add(changedTime, OnlyTemperature(1));
        history.Add(changedTime + 10_000, OnlyTemperature(2));
        history.Add(kept[^1] + 60_000, OnlyTemperature(3));
        var read = history.Between(long.MinValue, long.MaxValue).ToList();
        Assert.Equal(kept, read.Select(row => row.UnixMilliseconds).Intersect(kept)); // none is dropped
        Assert.Equal(kept.Count + 3, read.Count);
        Assert.Equal(read.Select(row => row.UnixMilliseconds).Order(), read.Select(row => row.UnixMilliseconds));
        Assert.Equal(
            [1.0, 2.0, 3.0],
            history.After(kept[^1]).Select(row => row.Figures[(int)Figure.TemperatureCelsius])
        );
        Assert.Equal(
            [3.0],
            history.After(changedTime + 10_000).Select(row => row.Figures[(int)Figure.TemperatureCelsius])
        );
        Assert.Equal(kept[^1] + 60_000, history.NewestUnixMilliseconds);
    }

    [Fact]
    public void A_reader_with_restored_samples_gets_those_since_the_start_and_one_without_samples_gets_all()
    {
        var history = new SampleHistory(_memory);
        history.Add(10_000, OnlyTemperature(1));
        history.Add(20_000, OnlyTemperature(2));
        history.AddBefore([new SampleRow(80_000, OnlyTemperature(80)), new SampleRow(90_000, OnlyTemperature(90))]);
        Assert.Equal([1.0, 2.0], history.After(90_000).Select(row => row.Figures[(int)Figure.TemperatureCelsius]));
        Assert.Equal(
            [80.0, 90.0, 1.0, 2.0],
            history.After(0).Select(row => row.Figures[(int)Figure.TemperatureCelsius])
        );
        Assert.Equal(20_000, history.NewestUnixMilliseconds);

        // Another member has more samples of this node.
        history.AddBefore([
            new SampleRow(90_000, OnlyTemperature(90)),
            new SampleRow(100_000, OnlyTemperature(100)),
            new SampleRow(20_000, OnlyTemperature(2)),
        ]);
        Assert.Equal(
            [80.0, 90.0, 100.0, 1.0, 2.0],
            history.After(0).Select(row => row.Figures[(int)Figure.TemperatureCelsius])
        );
        Assert.Equal(history.TakenBytes, _memory.UsedBytes);
    }

    [Fact]
    public void Restored_samples_come_before_those_since_the_start()
    {
        var history = new SampleHistory(_memory);
        history.Add(100_000, OnlyTemperature(100));
        history.Add(110_000, OnlyTemperature(110));
        history.AddBefore([
            new SampleRow(80_000, OnlyTemperature(80)),
            new SampleRow(90_000, OnlyTemperature(90)),
            new SampleRow(100_000, OnlyTemperature(0)),
        ]);
        Assert.Equal(
            [80.0, 90.0, 100.0, 110.0],
            history.Between(long.MinValue, long.MaxValue).Select(row => row.Figures[(int)Figure.TemperatureCelsius])
        );
        Assert.Equal(
            [90.0, 100.0],
            history.Between(90_000, 100_000).Select(row => row.Figures[(int)Figure.TemperatureCelsius])
        );
        history.Clear();
        Assert.Equal(0, _memory.UsedBytes);
    }

    [Fact]
    public void Wider_spans_have_the_mean_of_most_figures_the_largest_percentile_and_the_last_counter()
    {
        double[] SampleOf(double celsius, double sync, double applied)
        {
            double[] figures = OnlyTemperature(celsius);
            figures[(int)Figure.SyncP99Milliseconds] = sync;
            figures[(int)Figure.AppliedIndex] = applied;
            return figures;
        }

        SampleRow[] samples =
        [
            new(0, SampleOf(40, 5, 1)),
            new(10_000, SampleOf(50, 90, 2)),
            new(20_000, SampleOf(double.NaN, 7, 3)),
            new(60_000, SampleOf(70, 1, 9)),
        ];
        var widened = new MergedHistory(fromUnixSecond: 0, toUnixSecond: 60, points: 3);
        Assert.Equal(30, widened.SpanSeconds);
        var rows = widened.Of(samples).ToList();
        Assert.Equal([0L, 60_000L], rows.Select(row => row.UnixMilliseconds));
        Assert.Equal(
            (45.0, 90.0, 3.0),
            (
                rows[0].Figures[(int)Figure.TemperatureCelsius],
                rows[0].Figures[(int)Figure.SyncP99Milliseconds],
                rows[0].Figures[(int)Figure.AppliedIndex]
            )
        );
        Assert.True(double.IsNaN(rows[1].Figures[(int)Figure.Documents]));
    }

    /// <summary>Returns figures of which only the temperature is known.</summary>
    private static double[] OnlyTemperature(double celsius)
    {
        double[] figures = new double[Figures.Count];
        Array.Fill(figures, double.NaN);
        figures[(int)Figure.TemperatureCelsius] = celsius;
        return figures;
    }

    /// <summary>
    /// Figures of an idle node: heat, memory and processor fluctuate, counters grow with the clock only.
    /// </summary>
    private static double[] IdleFigures(Random random, int sample)
    {
        double[] figures = new double[Figures.Count];
        figures[(int)Figure.UptimeSeconds] = sample * 10;
        figures[(int)Figure.TemperatureCelsius] = 45 + random.NextDouble();
        figures[(int)Figure.ProcessCpuCores] = random.NextDouble() * 0.01;
        figures[(int)Figure.MachineCpuRatio] = random.NextDouble() * 0.05;
        figures[(int)Figure.ResidentBytes] = 90e6 + (random.NextDouble() * 1e6);
        figures[(int)Figure.MachineMemoryUsedBytes] = 300e6 + (random.NextDouble() * 1e7);
        figures[(int)Figure.DeviceWrittenBytes] = 1e9 + (sample * 1000.0);
        figures[(int)Figure.DeviceWrittenBytesPerSecond] = random.NextDouble() * 1000;
        figures[(int)Figure.ClockAheadSeconds] = random.NextDouble() * 0.01;
        return figures;
    }

    /// <summary>Figures of a node under load, which change all the time.</summary>
    private static double[] BusyFigures(Random random, int sample)
    {
        double[] figures = IdleFigures(random, sample);
        figures[(int)Figure.ProcessCpuCores] = random.NextDouble() * 4;
        figures[(int)Figure.MachineCpuRatio] = random.NextDouble();
        figures[(int)Figure.DiskFreeBytes] = 20e9 - (sample * 1e6);
        figures[(int)Figure.DeviceWrittenBytes] = 1e9 + (sample * 4e7);
        figures[(int)Figure.DeviceWrittenBytesPerSecond] = random.NextDouble() * 1e7;
        figures[(int)Figure.RequestsPerSecond] = random.NextDouble() * 5000;
        figures[(int)Figure.ReadsPerSecond] = random.NextDouble() * 2500;
        figures[(int)Figure.WritesPerSecond] = random.NextDouble() * 2500;
        foreach (
            var figure in (Figure[])
                [
                    Figure.ReadP50Milliseconds,
                    Figure.ReadP99Milliseconds,
                    Figure.WriteP50Milliseconds,
                    Figure.WriteP99Milliseconds,
                    Figure.SyncP50Milliseconds,
                    Figure.SyncP99Milliseconds,
                ]
        )
        {
            figures[(int)figure] = random.NextDouble() * 100;
        }

        figures[(int)Figure.SyncsPerSecond] = random.NextDouble() * 100;
        figures[(int)Figure.JournalBytesPerSecond] = random.NextDouble() * 1e6;
        figures[(int)Figure.IndexDocumentsLeft] = random.Next(10_000);
        figures[(int)Figure.QueuedCommands] = random.Next(64);
        foreach (
            var figure in (Figure[])
                [Figure.AppliedIndex, Figure.CommitIndex, Figure.LastIndex, Figure.Sequence, Figure.Documents]
        )
        {
            figures[(int)figure] = (sample * 25_000.0) + random.Next(1000);
        }

        return figures;
    }
}
