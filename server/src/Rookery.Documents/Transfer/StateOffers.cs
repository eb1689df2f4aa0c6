using System.Globalization;
using Rookery.Documents.Backups;
using Rookery.Documents.Commands;
using Rookery.Journal;
using Rookery.Platform;
using Rookery.Storage;
using Rookery.Storage.Install;
using Rookery.Storage.Repair;

namespace Rookery.Documents.Transfer;

/// <summary>
/// What members get that fell behind the first entry of this node's journal: what changed since the last etag that they
/// have, when that is known whole and is much less, or everything. Each offer is files, and keeps the journal behind
/// it, so that who has fetched the one can go on with the other. It is given up when nobody fetched from it for a
/// while, or when it keeps too much of the journal.
/// </summary>
public sealed class StateOffers : IDisposable
{
    /// <summary>How long an offer stays without anybody fetching from it.</summary>
    public static readonly TimeSpan Patience = TimeSpan.FromMinutes(5);

    // A member that asks while so many others are given what changed gets everything: each keeps files that compaction
    // has replaced.
    private const int MostChanges = 4;

    private readonly StorageEngine _storage;
    private readonly NodeJournal _journal;
    private readonly IDisk _disk;
    private readonly string _directory;
    private readonly TimeProvider _time;
    private readonly Lock _gate = new();
    private readonly List<OpenOffer> _changes = [];
    private OpenOffer? _whole;
    private bool _isDisposed;

    internal StateOffers(
        StorageEngine storage,
        NodeJournal journal,
        IDisk disk,
        string directory,
        StateTransferStatistics statistics,
        TimeProvider time
    )
    {
        _storage = storage;
        _journal = journal;
        _disk = disk;
        _directory = directory;
        Statistics = statistics;
        _time = time;
    }

    /// <summary>
    /// Bytes of the journal that an offer may keep from being released. Beyond them it is given up, whoever fetches
    /// from it: the journal's device must not fill for a slow member.
    /// </summary>
    public long MostKeptBytes { get; init; } = 1L << 30;

    /// <summary>What stays free when what changed is written.</summary>
    public ReserveRule Reserve { get; init; } = ReserveRule.Default;

    /// <summary>The last index applied on this node: while it rises, who reads files rests in between.</summary>
    public long AppliedIndex => _storage.AppliedIndex;

    /// <summary>What was transferred.</summary>
    public StateTransferStatistics Statistics { get; }

    /// <summary>
    /// The open offer of everything, or a new one of what the manifest holds now. On the thread that does background
    /// work, or while there is none.
    /// </summary>
    /// <param name="through">The index that it must have come to at least, when the manifest has: an open one that has
    /// not is given up.</param>
    /// <exception cref="StateTransferException">This node's data is damaged, or it is stopping.</exception>
    /// <exception cref="DiskException">The disk refused.</exception>
    public StateOffer Make(long through = 0)
    {
        GiveUpIfDue();
        lock (_gate)
        {
            ObjectDisposedException.ThrowIf(_isDisposed, this);
            if (_whole is { } open && open.Index >= through)
            {
                open.LastUse = _time.GetTimestamp();
                return open.Offer!;
            }
        }

        RefuseDamage();
        EndWhole();
        var made = BeginWhole();
        lock (_gate)
        {
            _whole = made;
        }

        Statistics.CountOffer();
        return made.Offer!;
    }

    /// <summary>
    /// What a member needs that has applied everything through an etag. On the thread that does background work, or
    /// while there is none.
    /// </summary>
    /// <param name="since">The etag.</param>
    /// <param name="write">Set when what changed has to be written first: to be called beside all other work. Null
    /// otherwise.</param>
    /// <param name="through">As for <see cref="Make"/>.</param>
    /// <returns>Null while what changed is being written: to be asked again.</returns>
    /// <exception cref="StateTransferException">This node's data is damaged, or it is stopping.</exception>
    /// <exception cref="DiskException">The disk refused.</exception>
    public StateOffer? MakeSince(long since, out Action? write, long through = 0)
    {
        write = null;
        GiveUpIfDue();
        if (FindChanges(since, through) is not { } open)
        {
            RefuseDamage();
            (open, string? refusal) = BeginChanges(since);
            if (open is null)
            {
                return Make(through) with { Why = refusal };
            }

            // Asked for now: while this is written, a state of a later configuration may be installed here, behind
            // which the journal knows none at this index.
            var begun = open;
            var configuration = _journal.ConfigurationAt(begun.Index);
            write = () =>
                begun.Write(
                    _disk,
                    () =>
                        Describe(begun, begun.Changes!.Position, configuration) with
                        {
                            Since = begun.Changes.Since,
                            WholeBytes = begun.Changes.WholeBytes,
                        }
                );
            return null;
        }

        return open.Refusal is { } why ? Make(through) with { Why = why } : open.Offer;
    }

    /// <summary>
    /// Opens a file of an offer to read. From any thread. The file can be read to its end, whether the offer is given
    /// up meanwhile or not.
    /// </summary>
    /// <returns>Null when there is no such offer any more, or no such file in it.</returns>
    /// <exception cref="DiskException">The disk refused.</exception>
    public IDiskFile? Open(string offer, string file)
    {
        lock (_gate)
        {
            if (
                Find(offer) is not { } open
                || !open.Offer!.Files.Any(each => string.Equals(each.Name, file, StringComparison.Ordinal))
            )
            {
                return null;
            }

            open.LastUse = _time.GetTimestamp();
            return _disk.Open(Path.Join(open.Directory, file), DiskOpen.Read);
        }
    }

    /// <summary>
    /// Writes the rows of a range for a member that lost them, into a file that the caller deletes. From any thread.
    /// </summary>
    /// <exception cref="ReceivedStateException">They are too many for this: the member fetches the whole
    /// state.</exception>
    /// <exception cref="DamagedException">They cannot be read here either.</exception>
    /// <exception cref="DiskException">The disk refused.</exception>
    public RepairRows WriteRows(RepairRequest request)
    {
        string directory = RowsPathOf(_directory);
        _disk.CreateDirectory(directory);
        return _storage.WriteRepair(request, Path.Join(directory, HistoryId.Create()));
    }

    /// <summary>Opens what <see cref="WriteRows"/> wrote.</summary>
    /// <exception cref="DiskException">The disk refused.</exception>
    public IDiskFile OpenRows(RepairRows rows) => _disk.Open(rows.Path, DiskOpen.Read);

    /// <summary>Deletes what <see cref="WriteRows"/> wrote.</summary>
    /// <exception cref="DiskException">The disk refused: the next start deletes it.</exception>
    public void DeleteRows(RepairRows rows) => _disk.Delete(rows.Path);

    /// <summary>Where rows for repairs lie while they are sent, beside the directory of offers.</summary>
    internal static string RowsPathOf(string directory) => directory + "-rows";

    /// <summary>Where an offer of what changed may lie, beside the directory of whole states.</summary>
    internal static IEnumerable<string> ChangesPathsOf(string directory) =>
        Enumerable
            .Range(1, MostChanges)
            .Select(number => string.Create(CultureInfo.InvariantCulture, $"{directory}-changes-{number}"));

    /// <summary>Notes that bytes of an offer went out: somebody is fetching from it.</summary>
    /// <param name="offer">The offer; empty for rows of a repair.</param>
    /// <param name="bytes">How many.</param>
    public void CountSent(string offer, long bytes)
    {
        lock (_gate)
        {
            if (Find(offer) is { } open)
            {
                open.LastUse = _time.GetTimestamp();
                Statistics.CountSent(open.Changes is null ? StateTransferKind.Files : StateTransferKind.Changes, bytes);
                return;
            }
        }

        Statistics.CountSent(offer.Length == 0 ? StateTransferKind.Repairs : StateTransferKind.Files, bytes);
    }

    /// <summary>
    /// Gives open offers up whose time has come. On the thread that does background work, about every half minute.
    /// </summary>
    public void GiveUpIfDue()
    {
        List<OpenOffer> due;
        lock (_gate)
        {
            due = [.. _changes.Where(IsDue)];
            _changes.RemoveAll(due.Contains);
            if (_whole is { } whole && IsDue(whole))
            {
                due.Add(whole);
                _whole = null;
            }
        }

        foreach (var open in due)
        {
            open.End(_disk);
            Statistics.CountGivenUp();
        }
    }

    /// <summary>Ends the open offers, if there are any.</summary>
    public void Dispose()
    {
        List<OpenOffer> open;
        lock (_gate)
        {
            open = [.. _changes];
            _changes.Clear();
            if (_whole is { } whole)
            {
                open.Add(whole);
            }

            (_whole, _isDisposed) = (null, true);
        }

        open.ForEach(each => each.End(_disk));
    }

    private bool IsDue(OpenOffer open) =>
        _time.GetElapsedTime(open.LastUse) >= Patience
        || (open.Refusal is null && _journal.BytesAbove(open.Index) > MostKeptBytes);

    // Under the gate.
    private OpenOffer? Find(string offer)
    {
        foreach (var open in _changes)
        {
            if (string.Equals(open.Offer?.Id, offer, StringComparison.Ordinal))
            {
                return open;
            }
        }

        return _whole is { Offer: { } whole } && string.Equals(whole.Id, offer, StringComparison.Ordinal)
            ? _whole
            : null;
    }

    // What changed since an earlier etag will do too, but not the refusal of it: since then there may be little. Who is
    // told of a refusal goes on to everything, so nobody keeps that in use.
    private OpenOffer? FindChanges(long since, long through)
    {
        lock (_gate)
        {
            ObjectDisposedException.ThrowIf(_isDisposed, this);
            var found = _changes
                .Where(open =>
                    open.Refusal is null
                        ? open.Changes!.Since <= since && open.Index >= through
                        : open.Changes!.Since == since
                )
                .MaxBy(open => open.Changes!.Since);
            if (found is { Refusal: null })
            {
                found.LastUse = _time.GetTimestamp();
            }

            return found;
        }
    }

    private void RefuseDamage()
    {
        if (_storage.Statistics().Damage is [var damage, ..])
        {
            throw new StateTransferException(
                $"This node does not offer its state, because a part of it cannot be read: {damage.Sentence} "
                    + $"Another member has to."
            );
        }
    }

    private void EndWhole()
    {
        OpenOffer? earlier;
        lock (_gate)
        {
            (earlier, _whole) = (_whole, null);
        }

        earlier?.End(_disk);
    }

    private OpenOffer BeginWhole()
    {
        // Kept before the checkpoint is made: what lies behind the manifest of this moment stays, and a later one keeps
        // less.
        var kept = _journal.KeepAbove(_storage.Durable.Index);
        try
        {
            NodeBackup.RemoveCheckpoint(_disk, _directory);
            var position = _storage.Checkpoint(_directory);
            var open = new OpenOffer(_directory, position.Index, kept) { LastUse = _time.GetTimestamp() };
            open.Complete(Describe(open, position, _journal.ConfigurationAt(position.Index)));
            return open;
        }
        catch
        {
            kept.Dispose();
            throw;
        }
    }

    private (OpenOffer? Open, string? Refusal) BeginChanges(long since)
    {
        string? directory = ChangesPathsOf(_directory)
            .FirstOrDefault(path =>
                !_changes.Exists(open => string.Equals(open.Directory, path, StringComparison.Ordinal))
            );
        if (directory is null)
        {
            return (null, "several others are given what changed at this time");
        }

        if (_storage.BeginChanges(since) is not { } changes)
        {
            return (
                null,
                string.Create(CultureInfo.InvariantCulture, $"deletions since etag {since} may be forgotten there")
            );
        }

        long estimated = changes.EstimatedBytes;
        var space = _disk.SpaceOf(Path.GetDirectoryName(_directory)!);
        string? refusal =
            estimated > changes.WholeBytes / 2 ? "what changed is about as much"
            : space.FreeBytes < estimated + Reserve.BytesOf(space.TotalBytes)
                ? "there is no room to write what changed there"
            : null;
        if (refusal is not null)
        {
            changes.Dispose();
            return (null, refusal);
        }

        NodeBackup.RemoveCheckpoint(_disk, directory);
        var begun = new OpenOffer(directory, changes.Position.Index, _journal.KeepAbove(changes.Position.Index))
        {
            Changes = changes,
            LastUse = _time.GetTimestamp(),
        };
        lock (_gate)
        {
            _changes.Add(begun);
        }

        Statistics.CountOffer();
        return (begun, null);
    }

    private StateOffer Describe(
        OpenOffer open,
        ManifestPosition position,
        (long Index, ReadOnlyMemory<byte> Configuration) configuration
    ) =>
        new()
        {
            Id = HistoryId.Create(),
            Index = position.Index,
            Term = position.Term,
            Operations = position.Sequence,
            ConfigurationIndex = configuration.Index,
            Configuration = configuration.Configuration.ToArray(),
            Files =
            [
                .. _disk
                    .List(open.Directory)
                    .Select(name => new StateFile(name, LengthOf(Path.Join(open.Directory, name)))),
            ],
        };

    private long LengthOf(string path)
    {
        using var file = _disk.Open(path, DiskOpen.Read);
        return file.Length;
    }
}
