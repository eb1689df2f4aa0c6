using System.Globalization;
using Rookery.Server.Operations;

namespace Rookery.Server.Alerts;

/// <summary>
/// Reports of other programs on this machine, from the text files that they write for node_exporter. The backup
/// playbook writes when the last backup was verified; the image's `rookery-slot` writes the state of the system slots.
/// </summary>
/// <param name="LastBackup">When the last backup was verified; null if none is known here.</param>
/// <param name="IsSlotOnTrial">Whether the running system is on trial; null on machines without slots.</param>
/// <param name="HasSlotFallenBack">Whether an update failed to start and the previous system runs; null on machines
/// without slots.</param>
public sealed record MachineNotes(DateTimeOffset? LastBackup, bool? IsSlotOnTrial, bool? HasSlotFallenBack)
{
    /// <summary>Metric of <see cref="LastBackup"/>.</summary>
    public const string BackupMetric = "rookery_backup_last_success_timestamp_seconds";

    /// <summary>Metric of <see cref="IsSlotOnTrial"/>.</summary>
    public const string TrialMetric = "rookery_slot_on_trial";

    /// <summary>Metric of <see cref="HasSlotFallenBack"/>.</summary>
    public const string FallenBackMetric = "rookery_slot_fell_back";

    /// <summary>Metric of <see cref="PackagesLocked"/>.</summary>
    public const string PackagesMetric = "rookery_image_packages_timestamp_seconds";

    /// <summary>Metric of <see cref="ImageRelease"/>, its label <c>release</c>.</summary>
    public const string ImageMetric = "rookery_image_info";

    private const int MaxReleaseLength = 64;

    // The first second of the year 3000, since 1970 UTC.
    private const double Year3000 = 32_503_680_000;

    /// <summary>
    /// The release of the image that runs, such as <c>0.2.0+os20261126.1412</c>; null on machines without the image.
    /// </summary>
    public string? ImageRelease { get; init; }

    /// <summary>
    /// When the versions of the image's packages were chosen; null on machines without the image.
    /// </summary>
    public DateTimeOffset? PackagesLocked { get; init; }

    /// <summary>No reports.</summary>
    public static MachineNotes None { get; } = new(LastBackup: null, IsSlotOnTrial: null, HasSlotFallenBack: null);

    /// <summary>Parses files in Prometheus' text format; a null stands for a missing file.</summary>
    public static MachineNotes Parse(params IEnumerable<string?> files)
    {
        var notes = None;
        foreach (
            string line in files
                .OfType<string>()
                .SelectMany(static text => text.Split('\n', StringSplitOptions.TrimEntries))
        )
        {
            int blank = line.IndexOf(' ', StringComparison.Ordinal);
            if (
                blank > 0
                && double.TryParse(
                    line.AsSpan(blank + 1),
                    NumberStyles.Float,
                    CultureInfo.InvariantCulture,
                    out double value
                )
            )
            {
                notes = notes.With(line[..blank], value);
            }
        }

        return notes;
    }

    /// <summary>Adds the known values to the metrics.</summary>
    internal void Add(PrometheusText text)
    {
        if (ImageRelease is { } release)
        {
            text.Gauge(ImageMetric, "The release of the image that runs; on machines with the image.")
                .Sample(1, ("release", release));
        }

        if (PackagesLocked is { } locked)
        {
            text.Gauge(
                    PackagesMetric,
                    "When the versions of the image's packages were chosen, since 1970 UTC; on machines with the image."
                )
                .Sample(locked.ToUnixTimeSeconds());
        }

        if (LastBackup is { } backup)
        {
            text.Gauge(
                    BackupMetric,
                    "Time of the last verified backup, since 1970 UTC; absent while none is known on this machine."
                )
                .Sample(backup.ToUnixTimeSeconds());
        }

        if (IsSlotOnTrial is { } trial)
        {
            text.Gauge(
                    TrialMetric,
                    "1 while the running system is an update that is not committed yet; on machines with slots."
                )
                .Sample(trial ? 1 : 0);
        }

        if (HasSlotFallenBack is { } fallen)
        {
            text.Gauge(
                    FallenBackMetric,
                    "1 when an update failed to start and the previous system runs; on machines with slots."
                )
                .Sample(fallen ? 1 : 0);
        }
    }

    // Another program writes the file, so a time outside the range of dates is ignored.
    private MachineNotes With(string metric, double value) =>
        metric switch
        {
            BackupMetric when value is > 0 and < Year3000 => this with
            {
                LastBackup = DateTimeOffset.FromUnixTimeMilliseconds((long)(value * 1000)),
            },
            TrialMetric => this with { IsSlotOnTrial = value > 0 },
            FallenBackMetric => this with { HasSlotFallenBack = value > 0 },
            PackagesMetric when value is > 0 and < Year3000 => this with
            {
                PackagesLocked = DateTimeOffset.FromUnixTimeSeconds((long)value),
            },
            _ => ReleaseIn(metric) is { } release ? this with { ImageRelease = release } : this,
        };

    /// <summary>Returns the release in `rookery_image_info{release="…"}`; null for other metrics.</summary>
    private static string? ReleaseIn(string metric)
    {
        const string begin = ImageMetric + "{release=\"";
        const string end = "\"}";
        return
            metric.StartsWith(begin, StringComparison.Ordinal)
            && metric.EndsWith(end, StringComparison.Ordinal)
            && metric.Length - begin.Length - end.Length is > 0 and <= MaxReleaseLength
            && metric[begin.Length..^end.Length] is var release
            && release.All(static letter => char.IsAsciiLetterOrDigit(letter) || letter is '.' or '+' or '-' or '~')
            ? release
            : null;
    }
}
