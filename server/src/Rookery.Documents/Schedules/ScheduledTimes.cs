using Rookery.Json;
using Rookery.Platform;

namespace Rookery.Documents.Schedules;

/// <summary>
/// The members <c>@refresh</c>, <c>@archive-at</c> and <c>@archived</c> of stored metadata. Apply reads them, so all
/// members must read them alike: a change of the rules needs a new format level.
/// </summary>
public static class ScheduledTimes
{
    private static ReadOnlySpan<byte> Archived => "\"@archived\":true"u8;

    /// <summary>
    /// Returns the time in UTC ticks at which a document is refreshed or archived; 0 if there is none, or if the member
    /// is not a date.
    /// </summary>
    /// <param name="metadata">The stored metadata members, without braces.</param>
    /// <param name="kind">Refresh or Archive.</param>
    public static long Read(ReadOnlySpan<byte> metadata, ScheduleKind kind)
    {
        var name = NameOf(kind);
        return
            metadata.IndexOf(name) >= 0
            && StoredJson.TryFindMember(metadata, container: -1, name, out var member, out int valueStart)
            && metadata[valueStart..member.End] is [(byte)'"', .. var text, (byte)'"']
            && WireDate.TryParse(text, out long ticks)
            ? Math.Max(ticks, 0)
            : 0;
    }

    /// <summary>Whether a document is archived. Default indexes leave archived documents out.</summary>
    /// <param name="metadata">The stored metadata members, without braces.</param>
    public static bool IsArchived(ReadOnlySpan<byte> metadata) =>
        metadata.IndexOf(Archived) >= 0
        && StoredJson.TryFindMember(metadata, container: -1, "@archived"u8, out var member, out int valueStart)
        && metadata[valueStart..member.End].SequenceEqual("true"u8);

    /// <summary>Appends the metadata after the change: without the time and, if archived, with the mark.</summary>
    /// <param name="output">Receives the members.</param>
    /// <param name="metadata">The stored metadata members, without braces.</param>
    /// <param name="kind">The change.</param>
    internal static void AppendChanged(PooledBytes output, ReadOnlySpan<byte> metadata, ScheduleKind kind)
    {
        int start = output.Length;
        int at = 0;
        while (at < metadata.Length)
        {
            int from = metadata[at] == (byte)',' ? at + 1 : at;
            StoredJson.TryReadMember(metadata, ref at, out var name, out _);
            var text = metadata.Slice(name.Start, name.Length);
            bool isReplaced =
                text.SequenceEqual(NameOf(kind)) || (kind == ScheduleKind.Archive && text.SequenceEqual("@archived"u8));
            if (!isReplaced)
            {
                AppendMember(metadata[from..at]);
            }
        }

        if (kind == ScheduleKind.Archive)
        {
            AppendMember(Archived);
        }

        void AppendMember(ReadOnlySpan<byte> member)
        {
            if (output.Length > start)
            {
                output.Append((byte)',');
            }

            output.Append(member);
        }
    }

    private static ReadOnlySpan<byte> NameOf(ScheduleKind kind) =>
        kind == ScheduleKind.Refresh ? "@refresh"u8 : "@archive-at"u8;
}
