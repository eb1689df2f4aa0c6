using System.Globalization;
using Rookery.Hosting.Logging;
using Rookery.Platform;
using Rookery.Terminal;

namespace Rookery.Live;

/// <summary>The screen of `rookery top`, as lines of text.</summary>
/// <param name="paint">Colours the text, or leaves it plain.</param>
internal sealed class TopScreen(Paint paint)
{
    private const int MaxAlerts = 4;
    private const int TimelineSeconds = 60;
    private const int MaxSlow = 50;
    private const string TimelineLabel = "syncs ";

    /// <summary>The newest state; null before the first one.</summary>
    public LiveView? View { get; set; }

    /// <summary>Why there is no newer state; null if there is one.</summary>
    public string? Trouble { get; set; }

    /// <summary>The disk operations of the chosen node in the last minute.</summary>
    public IReadOnlyList<IoEvent> Events { get; set; } = [];

    /// <summary>The slow disk operations of the chosen node: slower than 99.9 % of their kind.</summary>
    public IReadOnlyList<IoEvent> Slow { get; set; } = [];

    /// <summary>The letter of the node of <see cref="Events"/>; null for none.</summary>
    public string? EventsOf { get; set; }

    /// <summary>Whether updates are paused.</summary>
    public bool IsPaused { get; set; }

    /// <summary>The letter of the chosen node; null for the node that the command connects to.</summary>
    public string? Chosen { get; set; }

    /// <summary>How many lines the lower part is scrolled.</summary>
    public int Scroll { get; set; }

    /// <summary>The chosen node, or the first node if the chosen one is not listed; null without nodes.</summary>
    public LiveMember? Member =>
        View?.Members.FirstOrDefault(member =>
            Chosen is null ? member.IsSelf : string.Equals(member.Tag, Chosen, StringComparison.Ordinal)
        )
        ?? (View is { Members: [var first, ..] } ? first : null);

    /// <summary>Returns the whole screen, with as many lines as it needs.</summary>
    public IEnumerable<string> FormatAll(int width) => [.. FormatUpper(width), string.Empty, .. FormatLower(width)];

    /// <summary>Returns the lines that fit, with the keys in the last line.</summary>
    public IReadOnlyList<string> FormatToFit(int width, int height)
    {
        List<string> upper = [.. FormatUpper(width), string.Empty];
        List<string> lower = [.. FormatLower(width)];
        int room = Math.Max(0, height - 1 - upper.Count);
        Scroll = Math.Clamp(Scroll, 0, Math.Max(0, lower.Count - room));
        List<string> lines = [.. upper.Take(height - 1), .. lower.Skip(Scroll).Take(room)];
        while (lines.Count < height - 1)
        {
            lines.Add(string.Empty);
        }

        string pauseKey = IsPaused ? "go on" : "pause";
        string keys = Table.Cut($" q quit   ↑↓ scroll   tab node   p {pauseKey} ", width);
        lines.Add(paint.Reverse(keys.PadRight(width)));
        return lines;
    }

    private IEnumerable<string> FormatUpper(int width)
    {
        if (View is not { } view)
        {
            return [paint.Bold("rookery top"), FitLine(Trouble ?? "Waiting for the node's first state.", width)];
        }

        string leader = view.Leader is null ? "nobody leads" : $"{view.Leader} leads";
        string inTerm = view.Term is { } term
            ? string.Create(CultureInfo.InvariantCulture, $" in term {term}")
            : string.Empty;
        string who = view.Cluster is null ? "one node" : $"{view.Cluster}, {leader}{inTerm}";
        string time = view.Time.UtcDateTime.ToString("HH:mm:ss", CultureInfo.InvariantCulture);
        string pause = IsPaused ? "   (paused)" : string.Empty;
        string sentence = FitLine(view.Sentence, width);
        string[] trouble = Trouble is null ? [] : [paint.Bad(FitLine(Trouble, width))];
        int hiddenAlerts = view.Alerts.Count - MaxAlerts;
        string[] more = hiddenAlerts > 0 ? [$"! and {hiddenAlerts} more"] : [];
        return
        [
            paint.Bold(FitLine($"rookery top   {who}   {time} UTC{pause}", width)),
            view.Level switch
            {
                "ok" => paint.Good(sentence),
                "warning" => paint.Warning(sentence),
                _ => paint.Bad(sentence),
            },
            .. trouble,
            .. view
                .Alerts.Take(MaxAlerts)
                .Select(alert => ColourAlert(alert.Severity, FitLine($"! {alert.Sentence} {alert.Fix}", width))),
            .. more,
            string.Empty,
            .. FormatNodes(view, width),
        ];
    }

    private string ColourAlert(string severity, string text) =>
        severity is "critical" ? paint.Bad(text) : paint.Warning(text);

    private IEnumerable<string> FormatNodes(LiveView view, int width)
    {
        var table = new Table(
            " ",
            "NAME",
            "ROLE",
            "STATE",
            ">LAG",
            ">READS/S",
            ">WRITES/S",
            ">WRITE P99",
            ">SYNC P99",
            ">CPU",
            ">MEMORY",
            ">HEAT",
            ">FREE"
        );
        foreach (var member in view.Members)
        {
            table.Add(
                member.Tag,
                member.Name,
                member.Role,
                member.State is "down" && member.SeenSeconds is { } seen
                    ? $"down, seen {Amount.Time(TimeSpan.FromSeconds(seen))} ago"
                    : member.State,
                FormatKnown(member.LagEntries, static lag => Amount.Number(lag)),
                FormatKnown(member.ReadsPerSecond, static rate => Amount.Number(Math.Round(rate))),
                FormatKnown(member.WritesPerSecond, static rate => Amount.Number(Math.Round(rate))),
                FormatKnown(member.WriteP99Milliseconds, static p99 => Amount.Microseconds(p99 * 1000)),
                FormatKnown(member.SyncP99Milliseconds, static p99 => Amount.Microseconds(p99 * 1000)),
                FormatKnown(
                    member.MachineCpuRatio,
                    static ratio => string.Create(CultureInfo.InvariantCulture, $"{ratio * 100:0} %")
                ),
                FormatKnown(member.ResidentBytes, Amount.Bytes),
                FormatKnown(
                    member.TemperatureCelsius,
                    static heat => string.Create(CultureInfo.InvariantCulture, $"{heat:0} °C")
                ),
                FormatKnown(member.DiskFreeBytes, Amount.Bytes)
            );
        }

        string? chosen = Member?.Tag;
        int row = -1; // the heading
        foreach (string line in table.Lines(width, paint))
        {
            LiveMember? member = row < 0 ? null : view.Members[row];
            if (member is not null && string.Equals(member.Tag, chosen, StringComparison.Ordinal))
            {
                yield return paint.Reverse(line.PadRight(width));
            }
            else
            {
                yield return member?.State is "down" ? paint.Bad(line) : line;
            }

            row++;
        }

        if (Member is { } shown)
        {
            string throttled =
                shown.Throttled.Count == 0 ? string.Empty : $"Throttled: {string.Join(", ", shown.Throttled)}. ";
            string unplug = shown.Unplug is null ? string.Empty : $"May I unplug it? {shown.Unplug}";
            if (throttled.Length > 0 || unplug.Length > 0)
            {
                yield return paint.Dim(FitLine($"{shown.Tag}: {throttled}{unplug}", width));
            }
        }
    }

    private List<string> FormatLower(int width)
    {
        if (View is not { } view)
        {
            return [];
        }

        List<string> lines = [];
        if (EventsOf is not null)
        {
            long now = view.Time.ToUnixTimeSeconds();
            lines.Add(paint.Accent(FitLine($"Disk of {EventsOf}, last {TimelineSeconds} s", width)));
            lines.AddRange(IoCommand.TableOf(IoPage.Summarize(Events, TimelineSeconds)).Lines(width, paint));
            var syncs = Events.Where(static operation => operation.Kind is "journal_sync");
            int columns = Math.Min(TimelineSeconds, Math.Max(1, width - TimelineLabel.Length - 1));
            lines.Add($"{TimelineLabel}{IoPage.Timeline(syncs, now - columns + 1, columns)}");
            lines.Add(string.Empty);
            lines.Add(
                paint.Accent(
                    FitLine(
                        Slow.Count == 0
                            ? $"Slow disk work of {EventsOf}: none"
                            : $"Slow disk work of {EventsOf}, slower than 99.9 % of its kind",
                        width
                    )
                )
            );
            if (Slow.Count > 0)
            {
                var slow = new Table("TIME (UTC)", "KIND", ">DURATION", ">BYTES");
                foreach (var operation in Slow.Reverse().Take(MaxSlow))
                {
                    slow.Add(
                        IoCommand.TimeOf(operation.Start),
                        operation.Kind,
                        Amount.Microseconds(operation.Duration),
                        Amount.Bytes(operation.Bytes)
                    );
                }

                lines.AddRange(slow.Lines(width, paint));
            }

            lines.Add(string.Empty);
        }

        if (view.Indexes.Count > 0)
        {
            lines.Add(paint.Accent("Indexes"));
            var indexes = new Table("DATABASE", "NAME", "STATE", ">LEFT", ">TIME LEFT", ">ERRORS");
            foreach (var index in view.Indexes)
            {
                indexes.Add(
                    index.Database,
                    index.Name,
                    index.State is not "Normal" ? index.State
                        : index.IsStale ? "behind"
                        : "up to date",
                    FormatKnown(index.DocumentsLeft, static left => Amount.Number(left)),
                    index.IsStale
                        ? FormatKnown(index.SecondsLeft, static left => Amount.Time(TimeSpan.FromSeconds(left)))
                        : string.Empty,
                    Amount.Number(index.Errors)
                );
            }

            lines.AddRange(indexes.Lines(width, paint));
        }

        return lines;
    }

    private static string FitLine(string text, int width) => Table.Cut(VisibleText.OfLine(text), width);

    private static string FormatKnown(double? value, Func<double, string> text) =>
        value is { } known ? text(known) : "?";
}
