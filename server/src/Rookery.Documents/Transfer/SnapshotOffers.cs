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
/// Offers snapshots to members that need entries which this node's journal no longer has. An offer contains the changes
/// since the member's last etag, if all changes are known and are much smaller than a full snapshot. Otherwise it
/// contains a full snapshot. Each offer pins the journal entries after it, so that the member can continue with the
/// log. An offer is withdrawn if no member fetches from it for a while, or if it pins too much of the journal.
/// </summary>
public sealed class SnapshotOffers : IDisposable
{
    /// <summary>Time after the last request for an offer until it is withdrawn.</summary>
    public static readonly TimeSpan IdleTimeout = TimeSpan.FromMinutes(5);

    // Maximum number of open offers of changes, because each pins files that merges have replaced. Further members get
    // a full snapshot.
    private const int MaxChanges = 4;

    private readonly StorageEngine _storage;
    private readonly NodeJournal _journal;
    private readonly IDisk _disk;
    private readonly string _directory;
    private readonly TimeProvider _time;
    private readonly Lock _gate = new();
    private readonly List<OpenOffer> _changes = []; // the offers of changes
    private OpenOffer? _whole; // the offer of a full snapshot
    private bool _isDisposed;

    internal SnapshotOffers(
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
    /// Journal bytes that an offer may pin. An offer that pins more is withdrawn even while a member fetches it,
    /// because a slow member must not fill the journal's device.
    /// </summary>
    public long MaxKeptBytes { get; init; } = 1L << 30;

    /// <summary>Free space that must remain after writing changes.</summary>
    public ReserveRule Reserve { get; init; } = ReserveRule.Default;

    /// <summary>
    /// Index of the last entry applied on this node. While it rises, readers of offered files pause between reads.
    /// </summary>
    public long AppliedIndex => _storage.AppliedIndex;

    /// <summary>Counters of transfers.</summary>
    public StateTransferStatistics Statistics { get; }

    /// <summary>
    /// Returns the open full-snapshot offer, or creates one from the current manifest. Call it on the thread of
    /// background work, or before that thread runs.
    /// </summary>
    /// <param name="through">Minimum index of the snapshot, if the manifest has reached it; an open offer below it is
    /// withdrawn.</param>
    /// <exception cref="StateTransferException">This node's data are damaged.</exception>
    /// <exception cref="DiskException">A disk operation failed.</exception>
    public SnapshotOffer Make(long through = 0)
    {
        WithdrawDue();
        lock (_gate)
        {
            ObjectDisposedException.ThrowIf(_isDisposed, this);
            if (_whole is { } open && open.Index >= through)
            {
                open.LastUse = _time.GetTimestamp();
                return open.Offer!;
            }
        }

        ThrowIfDamaged();
        EndWhole();
        var newOffer = BeginWhole();
        Add(newOffer);
        return newOffer.Offer!;
    }

    /// <summary>
    /// Returns an offer for a member that has applied everything through an etag. Call it on the thread of background
    /// work, or before that thread runs.
    /// </summary>
    /// <param name="since">The member's last etag.</param>
    /// <param name="write">Set if the changes must be written first: call it on another thread. Otherwise null.</param>
    /// <param name="through">As for <see cref="Make"/>.</param>
    /// <returns>Null while the changes are being written: call again later.</returns>
    /// <exception cref="StateTransferException">This node's data are damaged.</exception>
    /// <exception cref="DiskException">A disk operation failed.</exception>
    public SnapshotOffer? MakeSince(long since, out Action? write, long through = 0)
    {
        write = null;
        WithdrawDue();
        if (FindChanges(since, through) is not { } open)
        {
            ThrowIfDamaged();
            (open, string? refusal) = BeginChanges(since);
            if (open is null)
            {
                return Make(through) with { Why = refusal };
            }

            // Read the configuration before the write. During the write this node may install a snapshot, after which
            // the journal no longer has the configuration at this index.
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
    /// Opens a file of an offer for reading. Thread-safe. The file stays readable to its end, even if the offer is
    /// withdrawn meanwhile.
    /// </summary>
    /// <returns>Null if the offer was withdrawn or has no such file.</returns>
    /// <exception cref="DiskException">A disk operation failed.</exception>
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
    /// Writes the rows of a range for a member that lost them, into a file that the caller deletes. Thread-safe.
    /// </summary>
    /// <exception cref="ReceivedStateException">The range has too many rows for a repair: the member must fetch a full
    /// snapshot.</exception>
    /// <exception cref="DamagedException">The rows are damaged on this node too.</exception>
    /// <exception cref="DiskException">A disk operation failed.</exception>
    public RepairRows WriteRows(RepairRequest request)
    {
        string directory = RowsPathOf(_directory);
        _disk.CreateDirectory(directory);
        return _storage.Repairs.Write(request, Path.Join(directory, HistoryId.Create()));
    }

    /// <summary>Opens the file that <see cref="WriteRows"/> wrote.</summary>
    /// <exception cref="DiskException">A disk operation failed.</exception>
    public IDiskFile OpenRows(RepairRows rows) => _disk.Open(rows.Path, DiskOpen.Read);

    /// <summary>Deletes the file that <see cref="WriteRows"/> wrote.</summary>
    /// <exception cref="DiskException">A disk operation failed; the next start deletes the file.</exception>
    public void DeleteRows(RepairRows rows) => _disk.Delete(rows.Path);

    /// <summary>Returns the directory for the rows of repairs, beside the directory of offers.</summary>
    internal static string RowsPathOf(string directory) => directory + "-rows";

    /// <summary>
    /// Returns the possible directories for offers of changes, beside the directory of full snapshots.
    /// </summary>
    internal static IEnumerable<string> ChangesPathsOf(string directory) =>
        Enumerable
            .Range(1, MaxChanges)
            .Select(number => string.Create(CultureInfo.InvariantCulture, $"{directory}-changes-{number}"));

    /// <summary>Counts bytes sent from an offer, which also keeps the offer open.</summary>
    /// <param name="offer">The offer; empty for rows of a repair.</param>
    /// <param name="bytes">Number of bytes sent.</param>
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
    /// Withdraws the open offers that are due. Call it on the thread of background work, at least every half minute.
    /// </summary>
    public void WithdrawDue()
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
            Statistics.CountDropped();
        }
    }

    /// <summary>Withdraws all open offers.</summary>
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
        _time.GetElapsedTime(open.LastUse) >= IdleTimeout
        || (open.Refusal is null && _journal.BytesAbove(open.Index) > MaxKeptBytes);

    // The caller holds _gate.
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

    // Changes since an earlier etag can be used, too. A refusal counts only for its own etag, because after a later
    // etag there may be few changes. The last use of a refusal is not updated, because a refused member continues with
    // a full snapshot.
    private OpenOffer? FindChanges(long since, long through)
    {
        lock (_gate)
        {
            ObjectDisposedException.ThrowIf(_isDisposed, this);
            var usable = _changes
                .Where(open =>
                    open.Refusal is null
                        ? open.Changes!.Since <= since && open.Index >= through
                        : open.Changes!.Since == since
                )
                .MaxBy(open => open.Changes!.Since);
            if (usable is { Refusal: null })
            {
                usable.LastUse = _time.GetTimestamp();
            }

            return usable;
        }
    }

    private void ThrowIfDamaged()
    {
        if (_storage.Statistics().Damage is [var damage, ..])
        {
            throw new StateTransferException(
                $"This node does not offer its state, because a part of it cannot be read: {damage.Sentence} "
                    + $"Another member must offer its state."
            );
        }
    }

    // Nothing would withdraw an offer that is added after Dispose, so it is withdrawn here.
    private void Add(OpenOffer open)
    {
        bool isDisposed;
        lock (_gate)
        {
            isDisposed = _isDisposed;
            if (!isDisposed && open.Changes is null)
            {
                _whole = open;
            }
            else if (!isDisposed)
            {
                _changes.Add(open);
            }
        }

        if (isDisposed)
        {
            open.End(_disk);
            throw new ObjectDisposedException(nameof(SnapshotOffers));
        }

        Statistics.CountOffer();
    }

    private string? FindFreeDirectory()
    {
        lock (_gate)
        {
            return ChangesPathsOf(_directory)
                .FirstOrDefault(path =>
                    !_changes.Exists(open => string.Equals(open.Directory, path, StringComparison.Ordinal))
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
        // The journal is pinned before the files are linked. It keeps the entries after the current manifest's index; a
        // later manifest needs fewer.
        var journalPin = _journal.PinAbove(_storage.Durable.Index);
        try
        {
            NodeBackup.RemoveCheckpoint(_disk, _directory);
            var position = _storage.CopyTo(_directory);
            var open = new OpenOffer(_directory, position.Index, journalPin) { LastUse = _time.GetTimestamp() };
            open.Complete(Describe(open, position, _journal.ConfigurationAt(position.Index)));
            return open;
        }
        catch
        {
            OpenOffer.RemoveFiles(_disk, _directory);
            journalPin.Dispose();
            throw;
        }
    }

    private (OpenOffer? Open, string? Refusal) BeginChanges(long since)
    {
        if (FindFreeDirectory() is not { } directory)
        {
            return (null, "several other members are receiving changes now");
        }

        if (_storage.BeginChanges(since) is not { } changes)
        {
            return (
                null,
                string.Create(
                    CultureInfo.InvariantCulture,
                    $"tombstones since etag {since} may have been dropped there"
                )
            );
        }

        OpenOffer? begun = null;
        string? refusal;
        try
        {
            refusal = WhyNotWritten(changes);
            begun = refusal is null ? BeginIn(directory, changes) : null;
        }
        finally
        {
            if (begun is null)
            {
                changes.Dispose(); // its run files would stay open until the next start
            }
        }

        if (begun is not null)
        {
            Add(begun);
        }

        return (begun, refusal);
    }

    private string? WhyNotWritten(StateChanges changes)
    {
        long estimated = changes.EstimatedBytes;
        var space = _disk.SpaceOf(Path.GetDirectoryName(_directory)!);
        return estimated > changes.WholeBytes / 2 ? "the changes are about as large"
            : space.FreeBytes < estimated + Reserve.BytesOf(space.TotalBytes)
                ? "there is no room to write the changes there"
            : null;
    }

    private OpenOffer BeginIn(string directory, StateChanges changes)
    {
        NodeBackup.RemoveCheckpoint(_disk, directory);
        return new OpenOffer(directory, changes.Position.Index, _journal.PinAbove(changes.Position.Index))
        {
            Changes = changes,
            LastUse = _time.GetTimestamp(),
        };
    }

    private SnapshotOffer Describe(
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
