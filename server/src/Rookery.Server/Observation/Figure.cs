namespace Rookery.Server.Observation;

/// <summary>
/// A number that a node reports about itself. The names are used in JSON answers, between members, and as columns of
/// the history.
/// </summary>
internal enum Figure
{
    ReadyRatio,
    UptimeSeconds,
    TemperatureCelsius,
    UnderVoltageRatio,
    ThrottledRatio,
    BackgroundShareRatio,
    ProcessCpuCores,
    MachineCpuRatio,
    ResidentBytes,
    MemoryBudgetBytes,
    MachineMemoryUsedBytes,
    MachineMemoryBytes,
    DiskFreeBytes,
    DiskSizeBytes,
    DiskReserveBytes,
    DeviceWrittenBytes,
    DeviceWrittenBytesPerSecond,
    LifeUsedRatio,
    LifeLeftDays,
    RequestsPerSecond,
    ReadsPerSecond,
    WritesPerSecond,
    ReadP50Milliseconds,
    ReadP99Milliseconds,
    WriteP50Milliseconds,
    WriteP99Milliseconds,
    SyncsPerSecond,
    SyncP50Milliseconds,
    SyncP99Milliseconds,
    JournalBytesPerSecond,
    IndexesStale,
    IndexDocumentsLeft,
    IndexErrors,
    AppliedIndex,
    CommitIndex,
    LastIndex,
    Sequence,
    QueuedCommands,
    Documents,
    CertificateDaysLeft,
    BackupAgeSeconds,
    ClockAheadSeconds,
}

/// <summary>How several samples of a figure are merged into one, for a coarser history.</summary>
internal enum FigureMerge
{
    /// <summary>The mean.</summary>
    Mean,

    /// <summary>The largest, for percentiles: a mean would hide the peaks.</summary>
    Largest,

    /// <summary>The last, for counters and sizes.</summary>
    Last,
}

/// <summary>
/// Name, precision and merge rule of each figure. They are defined once, so that live view, history and the protocol
/// between members agree.
/// </summary>
internal static class Figures
{
    /// <summary>Number of figures.</summary>
    public static readonly int Count = Enum.GetValues<Figure>().Length;

    private static readonly string[] Names = Enum.GetNames<Figure>();
    private static readonly double[] Steps = [.. Enum.GetValues<Figure>().Select(StepFor)];
    private static readonly FigureMerge[] Merges = [.. Enum.GetValues<Figure>().Select(MergeFor)];
    private static readonly Dictionary<string, Figure> ByName = Enum.GetValues<Figure>()
        .ToDictionary(static figure => Names[(int)figure], StringComparer.Ordinal);

    /// <summary>Returns the name in JSON.</summary>
    public static string NameOf(Figure figure) => Names[(int)figure];

    /// <summary>Finds a figure by name; false for a figure of a newer version.</summary>
    public static bool TryFind(string name, out Figure figure) => ByName.TryGetValue(name, out figure);

    /// <summary>
    /// Returns the precision of a figure. Finer differences are noise and would cost a byte or more in each sample.
    /// </summary>
    public static double StepOf(Figure figure) => Steps[(int)figure];

    /// <summary>Returns the merge rule of a figure.</summary>
    public static FigureMerge MergeOf(Figure figure) => Merges[(int)figure];

    /// <summary>Rounds a value to the figure's precision.</summary>
    public static double Round(Figure figure, double value)
    {
        double step = StepOf(figure);
        // For steps below one, divide by the inverse, which is an integer: a product with 0.001 has spurious digits.
        return step >= 1 ? Math.Round(value / step) * step : Math.Round(value / step) / Math.Round(1 / step);
    }

    private static double StepFor(Figure figure)
    {
        string name = Names[(int)figure];
        return figure switch
        {
            Figure.ResidentBytes or Figure.MachineMemoryUsedBytes or Figure.DeviceWrittenBytes => 65_536,
            Figure.DiskFreeBytes => 1 << 20,
            Figure.DeviceWrittenBytesPerSecond or Figure.JournalBytesPerSecond => 64,
            Figure.CertificateDaysLeft or Figure.LifeLeftDays => 0.1,
            Figure.TemperatureCelsius => 0.1,
            Figure.ProcessCpuCores => 0.0001,
            _ when name.EndsWith("Ratio", StringComparison.Ordinal) => 0.001,
            _ when name.EndsWith("Milliseconds", StringComparison.Ordinal) => 0.01,
            _ when name.EndsWith("PerSecond", StringComparison.Ordinal) => 0.1,
            Figure.ClockAheadSeconds => 0.001,
            _ => 1,
        };
    }

    private static FigureMerge MergeFor(Figure figure) =>
        figure switch
        {
            Figure.ReadP99Milliseconds or Figure.WriteP99Milliseconds or Figure.SyncP99Milliseconds =>
                FigureMerge.Largest,
            Figure.UptimeSeconds
            or Figure.MemoryBudgetBytes
            or Figure.MachineMemoryBytes
            or Figure.DiskFreeBytes
            or Figure.DiskSizeBytes
            or Figure.DiskReserveBytes
            or Figure.DeviceWrittenBytes
            or Figure.LifeUsedRatio
            or Figure.LifeLeftDays
            or Figure.AppliedIndex
            or Figure.CommitIndex
            or Figure.LastIndex
            or Figure.Sequence
            or Figure.Documents
            or Figure.CertificateDaysLeft
            or Figure.BackupAgeSeconds
            or Figure.IndexErrors => FigureMerge.Last,
            _ => FigureMerge.Mean,
        };
}
