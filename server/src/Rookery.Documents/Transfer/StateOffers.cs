using Rookery.Disk;
using Rookery.Documents.Commands;
using Rookery.Journal;
using Rookery.Storage;

namespace Rookery.Documents;

/// <summary>
/// The state of this node for members that fell behind the first entry of its journal. One offer is open at a time, for all who ask: hard links to the runs of a manifest, and the
/// journal behind it kept, so that who has fetched the one can go on with the other. It is given up when nobody fetched from it for a while, or when it keeps too much of the journal.
/// </summary>
public sealed class StateOffers : IDisposable
{
    /// <summary>How long an offer stays without anybody fetching from it.</summary>
    public static readonly TimeSpan Patience = TimeSpan.FromMinutes(5);

    private readonly StorageEngine _storage;
    private readonly NodeJournal _journal;
    private readonly IDisk _disk;
    private readonly string _directory;
    private readonly TimeProvider _time;
    private readonly Lock _gate = new();
    private OpenOffer? _open;
    private bool _isDisposed;

    internal StateOffers(StorageEngine storage, NodeJournal journal, IDisk disk, string directory, StateTransferStatistics statistics, TimeProvider time)
    {
        _storage = storage;
        _journal = journal;
        _disk = disk;
        _directory = directory;
        Statistics = statistics;
        _time = time;
    }

    /// <summary>Bytes of the journal that an offer may keep from being released. Beyond them it is given up, whoever fetches from it: the journal's device must not fill for a slow member.</summary>
    public long MostKeptBytes { get; init; } = 1L << 30;

    /// <summary>The last index applied on this node: while it rises, who reads files rests in between.</summary>
    public long AppliedIndex => _storage.AppliedIndex;

    /// <summary>What was transferred.</summary>
    public StateTransferStatistics Statistics { get; }

    /// <summary>The open offer, or a new one of what the manifest holds now. On the thread that does background work, or while there is none.</summary>
    /// <exception cref="StateTransferException">This node's data is damaged, or it is stopping.</exception>
    /// <exception cref="DiskException">The disk refused.</exception>
    public StateOffer Make()
    {
        GiveUpIfDue();
        lock (_gate)
        {
            ObjectDisposedException.ThrowIf(_isDisposed, this);
            if (_open is { } open)
            {
                open.LastUse = _time.GetTimestamp();
                return open.Offer;
            }
        }

        if (_storage.Statistics().Damage is [var damage, ..])
        {
            throw new StateTransferException($"This node does not offer its state, because a part of it cannot be read: {damage.Sentence} Another member has to.");
        }

        var made = Begin();
        lock (_gate)
        {
            _open = made;
        }

        Statistics.CountOffer();
        return made.Offer;
    }

    /// <summary>Opens a file of an offer to read. From any thread. The file can be read to its end, whether the offer is given up meanwhile or not.</summary>
    /// <returns>Null when there is no such offer any more, or no such file in it.</returns>
    /// <exception cref="DiskException">The disk refused.</exception>
    public IDiskFile? Open(string offer, string file)
    {
        lock (_gate)
        {
            if (_open is not { } open || !string.Equals(open.Offer.Id, offer, StringComparison.Ordinal) || !open.Offer.Files.Any(each => string.Equals(each.Name, file, StringComparison.Ordinal)))
            {
                return null;
            }

            open.LastUse = _time.GetTimestamp();
            return _disk.Open(Path.Join(_directory, file), DiskOpen.Read);
        }
    }

    /// <summary>Writes the rows of a range for a member that lost them, into a file that the caller deletes. From any thread.</summary>
    /// <exception cref="ReceivedStateException">They are too many for this: the member fetches the whole state.</exception>
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

    /// <summary>Notes that bytes of an offer went out: somebody is fetching from it.</summary>
    public void CountSent(string offer, long bytes)
    {
        Statistics.CountSent(bytes);
        lock (_gate)
        {
            if (_open is { } open && string.Equals(open.Offer.Id, offer, StringComparison.Ordinal))
            {
                open.LastUse = _time.GetTimestamp();
            }
        }
    }

    /// <summary>Gives the open offer up when its time has come. On the thread that does background work, about every half minute.</summary>
    /// <exception cref="DiskException">A file could not be deleted: the next start deletes it.</exception>
    public void GiveUpIfDue()
    {
        OpenOffer? due;
        lock (_gate)
        {
            if (_open is not { } open || (_time.GetElapsedTime(open.LastUse) < Patience && _journal.BytesAbove(open.Offer.Index) <= MostKeptBytes))
            {
                return;
            }

            due = _open;
            _open = null;
        }

        End(due);
        Statistics.CountGivenUp();
    }

    /// <summary>Ends the open offer, if there is one.</summary>
    public void Dispose()
    {
        OpenOffer? ended;
        lock (_gate)
        {
            (ended, _open) = (_open, null);
            _isDisposed = true;
        }

        if (ended is not null)
        {
            try
            {
                End(ended);
            }
            catch (DiskException)
            {
                // What stays is deleted at the next start.
            }
        }
    }

    private OpenOffer Begin()
    {
        // Kept before the checkpoint is made: what lies behind the manifest of this moment stays, and a later one keeps less.
        long durable = _storage.Durable.Index;
        var kept = _journal.KeepAbove(durable);
        try
        {
            NodeBackup.RemoveCheckpoint(_disk, _directory);
            var position = _storage.Checkpoint(_directory);
            var (configurationIndex, configuration) = _journal.ConfigurationAt(position.Index);
            return new OpenOffer(
                new StateOffer
                {
                    Id = HistoryId.Create(),
                    Index = position.Index,
                    Term = position.Term,
                    Operations = position.Sequence,
                    ConfigurationIndex = configurationIndex,
                    Configuration = configuration.ToArray(),
                    Files = [.. _disk.List(_directory).Select(name => new StateFile(name, LengthOf(Path.Join(_directory, name))))],
                },
                kept)
            {
                LastUse = _time.GetTimestamp(),
            };
        }
        catch
        {
            kept.Dispose();
            throw;
        }
    }

    private void End(OpenOffer offer)
    {
        offer.Kept.Dispose();
        NodeBackup.RemoveCheckpoint(_disk, _directory);
    }

    private long LengthOf(string path)
    {
        using var file = _disk.Open(path, DiskOpen.Read);
        return file.Length;
    }

    private sealed class OpenOffer(StateOffer offer, IDisposable kept)
    {
        public StateOffer Offer { get; } = offer;

        public IDisposable Kept { get; } = kept;

        public long LastUse { get; set; }
    }
}
