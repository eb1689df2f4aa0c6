using System.Buffers.Binary;
using Rookery.Documents.Apply;
using Rookery.Documents.Commands;
using Rookery.Documents.Databases;

namespace Rookery.Documents.Revisions;

/// <summary>
/// Chooses the revisions of a document that an operation removes: a part of them, from the oldest on, if there are very
/// many. Used by apply, and by the check before a command is proposed, so that both read the same rows.
/// </summary>
internal sealed class RevisionRemoval : IDisposable
{
    /// <summary>Bytes to charge for each revision that is looked at.</summary>
    public const int BytesPerRevision = 64;

    // Bounds the time and memory of one operation: reading this many takes about 0.3 s.
    private const int MaxRead = 256 << 10;

    /// <summary>Decodes revisions.</summary>
    public RevisionDecoder Decoder { get; } = new();

    /// <summary>
    /// The revisions that were read, from the oldest to the newest. The last one is the document's version if that is a
    /// revision and <see cref="IsToEnd"/>.
    /// </summary>
    public List<PeekedRevision> Revisions { get; } = [];

    /// <summary>Number of revisions that are marked to be removed.</summary>
    public int Removed { get; private set; }

    /// <summary>Whether all revisions after the first of <see cref="Revisions"/> were read.</summary>
    public bool IsToEnd => EtagAfter == 0;

    /// <summary>Etag of the first revision that was not read; 0 if all were.</summary>
    public long EtagAfter { get; private set; }

    /// <summary>
    /// Etag of the first revision that the next operation must look at; 0 if no other one is to be removed.
    /// </summary>
    public long NextEtag { get; private set; }

    /// <summary>Finds the rule that an Enforce carries out; null if the collection has none.</summary>
    public RevisionRule? FindRule(
        in RevisionSource source,
        ReadOnlySpan<byte> lowerId,
        in Document document,
        RevisionsConfiguration? configuration
    )
    {
        if (configuration is null || document.Exists)
        {
            return configuration?.Find(document.Head.Collection);
        }

        using var rows = source.Seek(lowerId, from: 0, long.MaxValue, backward: true);
        Decoder.Reset();
        return rows.MoveNext() && Decoder.TryRead(source, lowerId, Key.LastNumberOf(rows.Key))
            ? configuration.Find(Decoder.View.Collection)
            : null;
    }

    /// <summary>Reads revisions, and marks those to be removed.</summary>
    /// <param name="source">The rows.</param>
    /// <param name="lowerId">The document's id.</param>
    /// <param name="document">The document, if it exists.</param>
    /// <param name="state">Its state, with at least one revision.</param>
    /// <param name="command">Delete or Enforce.</param>
    /// <param name="rule">Enforce: the rule, or null.</param>
    /// <param name="time">The time of the removal.</param>
    /// <param name="maxRemoved">Maximum number of revisions to remove.</param>
    public void Choose(
        in RevisionSource source,
        ReadOnlySpan<byte> lowerId,
        in Document document,
        RevisionState state,
        scoped in RevisionCommand command,
        RevisionRule? rule,
        RemovalTime time,
        long maxRemoved
    )
    {
        Revisions.Clear();
        Removed = 0;
        EtagAfter = NextEtag = 0;
        bool isEnforced = command.Action == RevisionAction.Enforce;
        bool isPurged = rule is { PurgesOnDelete: true, IsDisabled: false } && !document.Exists;
        long? minimumAge = isPurged ? null : rule?.MinimumAgeTicks;
        long excess =
            !isEnforced || rule is null || isPurged ? long.MaxValue
            : rule.IsDisabled ? 0
            : rule.MinimumToKeep is { } keep ? Math.Max(0, state.Count - keep)
            : minimumAge is null ? 0
            : long.MaxValue;
        var (first, last) = isEnforced ? (state.FirstEtag, long.MaxValue) : Range(source, lowerId, state, command);
        using (var rows = source.Seek(lowerId, first, long.MaxValue))
        {
            while (rows.MoveNext())
            {
                if (!TryAdd(RevisionBytes.Peek(rows), command, minimumAge, time, excess, maxRemoved, last))
                {
                    return;
                }
            }
        }

        if (state.LiveEtag != 0 && document.Exists)
        {
            var head = document.Head;
            var flags = head.Revisions.IsEmpty ? default : (RevisionFlags)head.Revisions[0];
            var live = new PeekedRevision
            {
                Etag = state.LiveEtag,
                Ticks = head.LastModifiedTicks,
                IsForced = (flags & RevisionFlags.IsForced) != RevisionFlags.None,
            };
            TryAdd(live, command, minimumAge, time, excess, maxRemoved, last);
        }
    }

    /// <summary>
    /// Returns whether a revision stays, but the newer one that it needs is removed, so that it must be stored whole.
    /// </summary>
    public bool LosesBase(int i) =>
        i + 1 < Revisions.Count && !Revisions[i].IsRemoved && Revisions[i].IsDelta && Revisions[i + 1].IsRemoved;

    /// <summary>Keeps all revisions after the one at an index. The next operation begins with that one.</summary>
    public void EndAt(int i)
    {
        EtagAfter = Revisions[i + 1].Etag;
        NextEtag = Revisions[i].Etag;
        for (int after = i + 1; after < Revisions.Count; after++)
        {
            Removed -= Revisions[after].IsRemoved ? 1 : 0;
        }

        Revisions.RemoveRange(i + 1, Revisions.Count - i - 1);
    }

    /// <inheritdoc/>
    public void Dispose() => Decoder.Dispose();

    // Returns false if the revision is not looked at.
    private bool TryAdd(
        in PeekedRevision revision,
        scoped in RevisionCommand command,
        long? minimumAge,
        RemovalTime time,
        long excess,
        long maxRemoved,
        long last
    )
    {
        bool isLast =
            Revisions.Count >= excess
            || revision.Etag > last
            || (minimumAge is { } age && !time.IsOlder(revision.Ticks, age));
        if (isLast || Removed >= maxRemoved || Revisions.Count == MaxRead)
        {
            // A revision that stays is read again, because it may need the first one after it.
            EtagAfter = revision.Etag;
            NextEtag =
                isLast ? 0
                : Revisions.Count > 0 && !Revisions[^1].IsRemoved ? Revisions[^1].Etag
                : revision.Etag;
            return false;
        }

        bool isRemoved =
            (command.IncludesForced || !revision.IsForced)
            && (
                command.Action == RevisionAction.Enforce
                || (
                    revision.Ticks >= command.FromTicks
                    && revision.Ticks <= command.ToTicks
                    && command.Names(revision.Etag)
                )
            );
        Removed += isRemoved ? 1 : 0;
        Revisions.Add(revision with { IsRemoved = isRemoved });
        return true;
    }

    // Returns the range of etags that a Delete reads. It begins with the revision before the first named one, because
    // that revision may be encoded by its differences from the named one.
    private static (long First, long Last) Range(
        in RevisionSource source,
        ReadOnlySpan<byte> lowerId,
        RevisionState state,
        scoped in RevisionCommand command
    )
    {
        long first = Math.Max(state.FirstEtag, command.Etag);
        if (command.Etags.IsEmpty)
        {
            return (first, long.MaxValue);
        }

        long least = long.MaxValue;
        long last = 0;
        for (int at = 0; at + sizeof(long) <= command.Etags.Length; at += sizeof(long))
        {
            long etag = BinaryPrimitives.ReadInt64LittleEndian(command.Etags[at..]);
            least = Math.Min(least, etag);
            last = Math.Max(last, etag);
        }

        if (least <= first)
        {
            return (first, last);
        }

        using var before = source.Seek(lowerId, first, least, backward: true);
        return (before.MoveNext() ? Key.LastNumberOf(before.Key) : first, last);
    }
}

/// <summary>The time of a removal of revisions.</summary>
/// <param name="LogTicks">Time of the entry, in UTC ticks.</param>
/// <param name="LastUnsteadyTicks">See <see cref="EntryScope.LastUnsteadyTicks"/>.</param>
internal readonly record struct RemovalTime(long LogTicks, long LastUnsteadyTicks)
{
    /// <summary>See <see cref="EntryScope.IsOlder"/>.</summary>
    public bool IsOlder(long ticks, long lifetimeTicks) =>
        Math.Max(ticks, LastUnsteadyTicks) < LogTicks - lifetimeTicks;
}
