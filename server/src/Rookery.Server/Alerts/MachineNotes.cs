using System.Globalization;
using Rookery.Server.Operations;

namespace Rookery.Server.Alerts;

/// <summary>
/// What programs beside the node noted on this machine for Prometheus, as text files for node_exporter: the backup
/// playbook when the last backup was found whole, the image's `rookery-slot` how its slots are.
/// </summary>
/// <param name="LastBackup">When the last backup was found whole; null when none is known here.</param>
/// <param name="IsSlotOnTrial">Whether the system that runs is on trial; null where there are no slots.</param>
/// <param name="HasSlotFallenBack">Whether an update did not come up, and the system before it runs; null where there
/// are no slots.</param>
public sealed record MachineNotes(DateTimeOffset? LastBackup, bool? IsSlotOnTrial, bool? HasSlotFallenBack)
{
    /// <summary>The metric of <see cref="LastBackup"/>.</summary>
    public const string BackupMetric = "rookery_backup_last_success_timestamp_seconds";

    /// <summary>The metric of <see cref="IsSlotOnTrial"/>.</summary>
    public const string TrialMetric = "rookery_slot_on_trial";

    /// <summary>The metric of <see cref="HasSlotFallenBack"/>.</summary>
    public const string FallenBackMetric = "rookery_slot_fell_back";

    /// <summary>Nothing is known.</summary>
    public static MachineNotes None { get; } = new(null, null, null);

    /// <summary>Reads files in Prometheus' text format; null for one that is not there.</summary>
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

    /// <summary>Adds what is known.</summary>
    internal void Add(PrometheusText text)
    {
        if (LastBackup is { } backup)
        {
            text.Gauge(
                    BackupMetric,
                    "When the last backup was taken, read back and found whole, since 1970; absent while none "
                        + "is known on this machine."
                )
                .Sample(backup.ToUnixTimeSeconds());
        }

        if (IsSlotOnTrial is { } trial)
        {
            text.Gauge(
                    TrialMetric,
                    "1 while the system that runs is an update that was not committed yet; where there are slots."
                )
                .Sample(trial ? 1 : 0);
        }

        if (HasSlotFallenBack is { } fallen)
        {
            text.Gauge(
                    FallenBackMetric,
                    "1 when an update did not come up, and the system before it runs; where there are slots."
                )
                .Sample(fallen ? 1 : 0);
        }
    }

    // Seconds since 1970 within what a date can be: the file is another program's.
    private MachineNotes With(string metric, double value) =>
        metric switch
        {
            BackupMetric when value is > 0 and < 32_503_680_000 => this with
            {
                LastBackup = DateTimeOffset.FromUnixTimeMilliseconds((long)(value * 1000)),
            },
            TrialMetric => this with { IsSlotOnTrial = value > 0 },
            FallenBackMetric => this with { HasSlotFallenBack = value > 0 },
            _ => this,
        };
}
