namespace Rookery.Server.Observation;

/// <summary>
/// A sequence of encoded samples. A sample is encoded as the milliseconds since the previous one, a bit set of the
/// figures that changed, and a number for each of those figures: 0 for "unknown now", otherwise 1 plus the
/// zigzag-encoded difference, in steps of the figure's precision. One thread may add samples while others read earlier
/// ones.
/// </summary>
internal sealed class SampleChunk
{
    // Stands for an unknown figure.
    private const long Unknown = long.MinValue;
    private const int MaxNumberBytes = 10;

    // Bound of a value in steps, so that differences fit into a long; no real figure comes near.
    private const double MaxSteps = 1L << 60;

    private static readonly int MaskBytes = (Figures.Count + 7) / 8;
    private static readonly int MaxSampleBytes = MaxNumberBytes + MaskBytes + (Figures.Count * MaxNumberBytes);

    private readonly byte[] _bytes;
    private readonly long[] _lastSteps = NewSteps();

    public SampleChunk(int capacity) => _bytes = new byte[capacity];

    /// <summary>Number of bytes written.</summary>
    public int Used { get; private set; }

    /// <summary>Number of samples.</summary>
    public int Count { get; private set; }

    /// <summary>Time of the first sample.</summary>
    public long FirstUnixMilliseconds { get; private set; }

    /// <summary>Time of the last sample. It is not the latest time if the clock was set back.</summary>
    public long LastUnixMilliseconds { get; private set; }

    /// <summary>The earliest time of a sample.</summary>
    public long EarliestUnixMilliseconds { get; private set; } = long.MaxValue;

    /// <summary>The latest time of a sample.</summary>
    public long LatestUnixMilliseconds { get; private set; } = long.MinValue;

    /// <summary>Whether no sample has an earlier time than the one before it.</summary>
    public bool IsOrdered { get; private set; } = true;

    /// <summary>Adds a sample; false if it may not fit.</summary>
    public bool TryAdd(long unixMilliseconds, ReadOnlySpan<double> figures)
    {
        if (Used + MaxSampleBytes > _bytes.Length)
        {
            return false;
        }

        if (Used == 0)
        {
            FirstUnixMilliseconds = LastUnixMilliseconds = unixMilliseconds;
        }

        int position = Used;
        WriteNumber(ref position, unixMilliseconds - LastUnixMilliseconds);
        int mask = position;
        _bytes.AsSpan(mask, MaskBytes).Clear();
        position += MaskBytes;
        for (int figure = 0; figure < _lastSteps.Length; figure++)
        {
            long steps = StepsOf((Figure)figure, figures[figure]);
            if (steps == _lastSteps[figure])
            {
                continue;
            }

            _bytes[mask + (figure / 8)] |= (byte)(1 << (figure % 8));
            WriteNumber(
                ref position,
                steps == Unknown
                    ? 0
                    : EncodeZigzag(steps - (_lastSteps[figure] == Unknown ? 0 : _lastSteps[figure])) + 1
            );
            _lastSteps[figure] = steps;
        }

        IsOrdered &= unixMilliseconds >= LastUnixMilliseconds;
        LastUnixMilliseconds = unixMilliseconds;
        EarliestUnixMilliseconds = Math.Min(EarliestUnixMilliseconds, unixMilliseconds);
        LatestUnixMilliseconds = Math.Max(LatestUnixMilliseconds, unixMilliseconds);
        Count++;
        Used = position;
        return true;
    }

    /// <summary>Reads the samples in the first <paramref name="used"/> bytes.</summary>
    public IEnumerable<SampleRow> Read(int used)
    {
        long time = FirstUnixMilliseconds;
        long[] steps = NewSteps();
        for (int position = 0; position < used; )
        {
            time += ReadNumber(ref position);
            int mask = position;
            position += MaskBytes;
            double[] figures = new double[Figures.Count];
            for (int figure = 0; figure < figures.Length; figure++)
            {
                if ((_bytes[mask + (figure / 8)] & (1 << (figure % 8))) != 0)
                {
                    long number = ReadNumber(ref position);
                    steps[figure] =
                        number == 0
                            ? Unknown
                            : DecodeZigzag(number - 1) + (steps[figure] == Unknown ? 0 : steps[figure]);
                }

                figures[figure] =
                    steps[figure] == Unknown
                        ? double.NaN
                        : Figures.Round((Figure)figure, steps[figure] * Figures.StepOf((Figure)figure));
            }

            yield return new SampleRow(time, figures);
        }
    }

    private static long StepsOf(Figure figure, double value) =>
        double.IsNaN(value)
            ? Unknown
            : (long)Math.Clamp(Math.Round(value / Figures.StepOf(figure)), -MaxSteps, MaxSteps);

    // 0, -1, 1, -2, 2 become 0, 1, 2, 3, 4, so that small differences of either sign take few bytes.
    private static long EncodeZigzag(long difference) => (difference << 1) ^ (difference >> 63);

    private static long DecodeZigzag(long number) => (number >>> 1) ^ -(number & 1);

    private static long[] NewSteps()
    {
        long[] steps = new long[Figures.Count];
        Array.Fill(steps, Unknown);
        return steps;
    }

    // As a varint: 7 bits a byte, the lowest first; the top bit of a byte means that more follow.
    private void WriteNumber(ref int position, long number)
    {
        ulong remaining = (ulong)number;
        while (remaining >= 0x80)
        {
            _bytes[position++] = (byte)(remaining | 0x80);
            remaining >>= 7;
        }

        _bytes[position++] = (byte)remaining;
    }

    private long ReadNumber(ref int position)
    {
        ulong number = 0;
        for (int shift = 0; ; shift += 7)
        {
            byte part = _bytes[position++];
            number |= (ulong)(part & 0x7f) << shift;
            if (part < 0x80)
            {
                return (long)number;
            }
        }
    }
}
