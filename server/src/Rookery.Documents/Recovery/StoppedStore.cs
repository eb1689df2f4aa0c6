using System.Text;
using Rookery.Documents.Apply;
using Rookery.Documents.Commands;
using Rookery.Documents.Databases;
using Rookery.Documents.Nodes;
using Rookery.Documents.Records;
using Rookery.Documents.Transfer;
using Rookery.Journal;
using Rookery.Platform;
using Rookery.Storage;

namespace Rookery.Documents.Recovery;

/// <summary>
/// The data of a stopped node, opened without changing it. Shows the last entry that the data contain. A
/// recovery copies the data.
/// </summary>
public sealed class StoppedStore : IDisposable
{
    private readonly DataDirectory _directory;
    private readonly StorageEngine? _storage;
    private readonly StoppedJournal? _journal;
    private readonly ClusterRecords _records = new();
    private readonly Dictionary<string, byte[]?> _laterRecords = new(StringComparer.Ordinal);

    private StoppedStore(NodeOptions options, IDisk disk, MemoryBudget memory, IIoRecorder io, TimeProvider time)
    {
        _directory = DataDirectory.Lock(disk, options);
        try
        {
            Ids = DataDirectory.ReadFormat(disk, _directory.Path);
            _storage = StorageEngine.Open(
                disk,
                options.ToStorageOptions(_directory.StoragePath) with
                {
                    IsReadOnly = true,
                    ExistedBefore = true,
                },
                memory,
                io,
                time
            );
            _records.Open(_storage);
            _journal = TryOpenJournal(options, disk, io, out string? lost);
            Damage = lost;
            ReadJournal();
            (StartDamage, RecoveryDamage) = FindDamage();
        }
        catch
        {
            Dispose();
            throw;
        }
    }

    /// <summary>The ids of the data directory.</summary>
    public NodeIds Ids { get; }

    /// <summary>Position of the last entry in the tables or the journal.</summary>
    public JournalPosition Last =>
        _journal is { } journal && journal.Position.Index > Tables.Index ? journal.Position : Tables;

    /// <summary>
    /// The entries that the journal lost by damage, in one sentence; null if it contains every entry that this node
    /// acknowledged.
    /// </summary>
    public string? Damage { get; }

    /// <summary>
    /// Why a node cannot start on the tables, in one sentence: rows that every start reads are damaged. Null if it can.
    /// </summary>
    public string? StartDamage { get; }

    /// <summary>
    /// Why the tables cannot be recovered into a new node, in one sentence: rows that every start reads, or the
    /// members' records, are damaged. Null if they can.
    /// </summary>
    public string? RecoveryDamage { get; }

    /// <summary>
    /// Log time of the last write in the journal; null if the journal contains none or no time is known.
    /// </summary>
    public DateTimeOffset? LastWritten { get; private set; }

    /// <summary>The latest configuration, as its entry contains it; empty if it is not known.</summary>
    public ReadOnlyMemory<byte> Configuration => _journal?.Configuration ?? default;

    /// <summary>The last vote, as its frame contains it; empty if it is not known.</summary>
    public ReadOnlyMemory<byte> Vote => _journal?.Vote ?? default;

    private JournalPosition Tables => new(_storage!.Durable.Index, _storage.Durable.Term, _storage.Durable.Sequence);

    /// <summary>
    /// Whether a database was ever created, according to tables and journal, or the journal contains any command other
    /// than changes of cluster records.
    /// </summary>
    public bool HasServed { get; private set; }

    /// <summary>Keys of the cluster records in the tables, and of those that the journal sets or deletes.</summary>
    /// <exception cref="DamagedException">A record is damaged.</exception>
    public IEnumerable<string> RecordKeys =>
        _records
            .List(string.Empty)
            .Select(static record => record.Key)
            .Union(_laterRecords.Keys, StringComparer.Ordinal);

    /// <summary>Opens and locks the data, so that no node starts on them.</summary>
    /// <exception cref="DataDirectoryInUseException">A node runs on them.</exception>
    /// <exception cref="IOException">There are no data, a newer version wrote them, or the journal's directory is
    /// missing.</exception>
    public static StoppedStore Open(
        NodeOptions options,
        IDisk disk,
        MemoryBudget memory,
        IIoRecorder io,
        TimeProvider time
    ) =>
        DataDirectory.IsNewAt(disk, options.DataDirectory)
            ? throw new DataFormatException(
                DataDirectory.WhyNoFormat(disk, options.DataDirectory)
                    ?? $"There is no data directory of a node at {options.DataDirectory}."
            )
            {
                IsConfigurationFault = true,
            }
            : new StoppedStore(options, disk, memory, io, time);

    /// <summary>
    /// Returns the value of a record, including changes in the journal that may not be committed: for display, not for
    /// decisions.
    /// </summary>
    /// <returns>Null if the record does not exist or is damaged.</returns>
    public ReadOnlyMemory<byte>? FindRecord(string key)
    {
        if (_laterRecords.TryGetValue(key, out byte[]? later))
        {
            return later;
        }

        try
        {
            return _records.TryGet(key, out var record) ? record.Value : null;
        }
        catch (DamagedException)
        {
            return null;
        }
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _journal?.Dispose();
        _storage?.Dispose();
        _directory.Dispose();
    }

    /// <summary>Copies the tables into another directory, by hard links to the runs.</summary>
    internal void CopyTables(string target) => _storage!.CopyTo(target);

    /// <summary>Reads the journal entries after the tables' index.</summary>
    internal IEnumerable<JournalFrame> ReadEntries()
    {
        if (_journal is null)
        {
            yield break;
        }

        using var reader = _journal.Read(Tables.Index + 1);
        while (reader.Next(out var frame))
        {
            yield return frame with
            {
                Payload = frame.Payload.ToArray(),
            };
        }
    }

    // Reads what a start reads, and then the members' records. Also sets HasServed.
    private (string? OfStart, string? OfRecovery) FindDamage()
    {
        string? ofStart = DamageOf(() =>
            HasServed |= new NodeState(_storage!, new DatabaseCatalog()).Record.LastDatabaseNumber > 0
        );
        return (
            ofStart,
            ofStart ?? DamageOf(() => _ = ClusterRecordPrefix.BoundToMembers.SelectMany(_records.List).Count())
        );

        static string? DamageOf(Action read)
        {
            try
            {
                read();
                return null;
            }
            catch (DamagedException damaged)
            {
                return damaged.Message;
            }
        }
    }

    // Returns null if the journal is too damaged to read. `lost` says which entries are lost; null if none are.
    private StoppedJournal? TryOpenJournal(NodeOptions options, IDisk disk, IIoRecorder io, out string? lost)
    {
        if (!disk.Exists(_directory.JournalPath))
        {
            throw new DataFormatException(
                $"{_directory.Path} has no journal in {_directory.JournalPath}. Name the journal's directory "
                    + $"with --journal; if it is lost, create an empty directory with that name."
            )
            {
                IsConfigurationFault = true,
            };
        }

        var journalOptions = new JournalOptions
        {
            Directory = _directory.JournalPath,
            SegmentBytes = options.SegmentBytes,
            StoreId = _storage!.StoreId,
        };
        try
        {
            var journal = StoppedJournal.Open(
                disk,
                journalOptions,
                new JournalKnowledge(Tables.Index, Tables.Term, HasPeers: true)
                {
                    ManifestOperations = Tables.Operations,
                    ExistedBefore = true,
                    PendingReset = StateInstallation.PendingResetOf(_storage),
                },
                io
            );
            long acknowledged = journal.Recovery.MayHaveAcknowledged.Index;
            lost =
                acknowledged > Math.Max(journal.Position.Index, Tables.Index)
                    ? $"Its journal is damaged: entries {Math.Max(journal.Position.Index, Tables.Index) + 1} "
                        + $"to {acknowledged}, which it may have acknowledged, cannot be read."
                    : null;
            return journal;
        }
        catch (JournalDamagedException damaged)
        {
            lost =
                $"Its journal cannot be read, so all entries after {Tables.Index}, the last one in the tables, are "
                + $"lost: {damaged.Message}";
            return null;
        }
        catch (DiskException refused) when (refused.Error == Errno.WouldBlock)
        {
            throw new DataDirectoryInUseException(_directory.JournalPath);
        }
    }

    /// <summary>Reads the journal without applying it: the last log time, and the changes of cluster records.</summary>
    private void ReadJournal()
    {
        if (_journal is null)
        {
            return;
        }

        using var reader = _journal.Read(0);
        while (reader.Next(out var frame))
        {
            if (
                frame.Type == FrameType.Batch
                && Payload.ContentLength(frame.Payload.Span) is >= EntryContent.HeadBytes and var length
            )
            {
                byte[] bytes = new byte[length];
                if (Payload.TryDecode(frame.Payload.Span, bytes))
                {
                    Read(new EntryContent(bytes));
                }
                else
                {
                    HasServed = true; // unknown content: assume user data
                }
            }
        }
    }

    private void Read(EntryContent content)
    {
        // While no leader knows the time, log times count from the start of year 1. So a time within the first day of
        // that year is not a real date.
        LastWritten =
            content.LogTicks > TimeSpan.TicksPerDay ? new DateTimeOffset(content.LogTicks, TimeSpan.Zero) : null;
        for (int i = 0; i < content.Count; i++)
        {
            var command = new CommandReader(content.Next());
            HasServed |= command.Kind != CommandKind.SetClusterRecords;
            while (command.Kind == CommandKind.SetClusterRecords && command.TryReadRecord(out var record))
            {
                _laterRecords[Encoding.ASCII.GetString(record.Key)] = record.IsDelete ? null : record.Value.ToArray();
            }
        }
    }
}
