namespace Rookery.Server.Observation;

/// <summary>
/// A number that a node says of itself. The names are those of the JSON, of the members' wire and of the columns of
/// history.
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

/// <summary>What becomes of several samples of a figure when one stands for them.</summary>
internal enum FigureMerge
{
    /// <summary>Their mean.</summary>
    Mean,

    /// <summary>The largest: a mean of percentiles hides what they are read for.</summary>
    Largest,

    /// <summary>The last: it counts up, or is a size.</summary>
    Last,
}

/// <summary>
/// How figures are called, how finely they are kept and how they are merged. In one place, so that live view, history
/// and wire cannot differ.
/// </summary>
internal static class Figures
{
    /// <summary>How many there are.</summary>
    public static readonly int Count = Enum.GetValues<Figure>().Length;

    private static readonly string[] Names = Enum.GetNames<Figure>();
    private static readonly double[] Steps = [.. Enum.GetValues<Figure>().Select(StepFor)];
    private static readonly FigureMerge[] Merges = [.. Enum.GetValues<Figure>().Select(MergeFor)];
    private static readonly Dictionary<string, Figure> ByName = Enum.GetValues<Figure>()
        .ToDictionary(static figure => Names[(int)figure], StringComparer.Ordinal);

    /// <summary>As JSON calls it.</summary>
    public static string NameOf(Figure figure) => Names[(int)figure];

    /// <summary>Finds it by that name; false for one of a newer version.</summary>
    public static bool TryFind(string name, out Figure figure) => ByName.TryGetValue(name, out figure);

    /// <summary>
    /// How finely it is told and kept: what is finer is noise, and costs a byte or more in each sample.
    /// </summary>
    public static double StepOf(Figure figure) => Steps[(int)figure];

    /// <summary>How it is merged.</summary>
    public static FigureMerge MergeOf(Figure figure) => Merges[(int)figure];

    /// <summary>Rounds to the step.</summary>
    public static double Round(Figure figure, double value)
    {
        double step = StepOf(figure);
        // Of steps below one the inverse is whole: a product with 0.001 has more digits than it says.
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
