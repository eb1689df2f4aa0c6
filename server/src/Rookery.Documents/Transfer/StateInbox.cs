using System.Globalization;
using Rookery.Documents.Backups;
using Rookery.Documents.Nodes;
using Rookery.Platform;
using Rookery.Storage;
using Rookery.Storage.Install;
using Rookery.Storage.Repair;

namespace Rookery.Documents.Transfer;

/// <summary>
/// Receives the files of another member's snapshot, in a directory of its own. The directory survives a restart, so an
/// interrupted fetch resumes. One thread at a time.
/// </summary>
public sealed class StateInbox
{
    private const string OfferName = "offer.json";
    private const string RowsName = "repair-rows";

    // Bytes at the end of a file that may not be synced, so that a power cut may have damaged them.
    private const int UnsyncedBytes = 1 << 20;

    private readonly StorageEngine _storage;
    private readonly IDisk _disk;
    private readonly string _directory;
    private readonly ReserveRule _reserve;
    private StateTransferKind _kind;

    internal StateInbox(
        StorageEngine storage,
        IDisk disk,
        string directory,
        ReserveRule reserve,
        StateTransferStatistics statistics
    )
    {
        _storage = storage;
        _disk = disk;
        _directory = directory;
        _reserve = reserve;
        Statistics = statistics;
    }

    /// <summary>Counters of transfers.</summary>
    public StateTransferStatistics Statistics { get; }

    /// <summary>Starts to fetch an offer, or resumes if it is the offer that was being fetched.</summary>
    /// <exception cref="StateTransferException">There is not enough free space.</exception>
    /// <exception cref="DiskException">A disk operation failed.</exception>
    public void Begin(SnapshotOffer offer)
    {
        _kind = offer.Since is null ? StateTransferKind.Files : StateTransferKind.Changes;
        if (!HasFilesOf(offer))
        {
            Clear();
            DataDirectory.CreateDurably(_disk, _directory);
            using var note = _disk.Open(Path.Join(_directory, OfferName), DiskOpen.CreateNew);
            note.Write(EncodeNote(offer), 0);
            note.Sync();
        }

        long missing = offer.Bytes - offer.Files.Sum(LengthOf);
        var space = _disk.SpaceOf(_directory);
        long needed = missing + _reserve.BytesOf(space.TotalBytes);
        if (space.FreeBytes < needed)
        {
            throw new StateTransferException(
                string.Create(
                    CultureInfo.InvariantCulture,
                    $"{Amount.Bytes(missing)} of the cluster's state are still to be fetched. With the reserve, "
                        + $"{Amount.Bytes(needed)} must be free for them, but {Amount.Bytes(space.FreeBytes)} are. "
                        + $"Free some space on this node, or give it a larger disk."
                )
            );
        }
    }

    /// <summary>
    /// Returns the offset at which to resume a file after a start: up to 1 MiB before its end, because a power cut may
    /// have damaged the last bytes.
    /// </summary>
    public long ResumeAt(StateFile file)
    {
        long length = LengthOf(file);
        return length == file.Bytes ? length : Math.Max(0, length - UnsyncedBytes);
    }

    /// <summary>Counts a file that was resumed after a broken connection.</summary>
    public void CountResumed() => Statistics.CountResumed();

    /// <summary>Opens a file for writing at <paramref name="offset"/> and truncates it there.</summary>
    /// <exception cref="DiskException">A disk operation failed.</exception>
    public InboxFile Open(StateFile file, long offset) =>
        new(_disk, Path.Join(_directory, file.Name), offset, Statistics, _kind);

    /// <summary>Opens the file for the rows of a repair and truncates it. One at a time.</summary>
    /// <param name="path">Path of the file.</param>
    /// <exception cref="DiskException">A disk operation failed.</exception>
    public InboxFile OpenRows(out string path)
    {
        _disk.CreateDirectory(_directory);
        path = Path.Join(_directory, RowsName);
        return new InboxFile(_disk, path, offset: 0, Statistics, StateTransferKind.Repairs);
    }

    /// <summary>Deletes the rows of a repair, unless the directory was cleared meanwhile.</summary>
    /// <exception cref="DiskException">A disk operation failed.</exception>
    internal void DropRows(RepairRows rows)
    {
        if (_disk.Exists(rows.Path))
        {
            _disk.Delete(rows.Path);
        }
    }

    /// <summary>
    /// Reads and checks every byte of the fetched files, and makes them durable. It can take long and needs no lock.
    /// </summary>
    /// <param name="offer">The fetched offer.</param>
    /// <param name="progress">Receives the number of bytes checked.</param>
    /// <exception cref="StateTransferException">The files are damaged or do not match the offer. Wrong files were
    /// deleted, so the next fetch gets them again.</exception>
    /// <exception cref="DiskException">A disk operation failed.</exception>
    public FetchedState Check(SnapshotOffer offer, Action<long>? progress = null)
    {
        try
        {
            var state = _storage.Installer.Check(_directory, progress);
            return
                new ManifestPosition(offer.Index, offer.Term, offer.Operations) == state.Position
                && offer.Since == state.Since
                ? new FetchedState(offer, state)
                : throw new StateTransferException(
                    $"The fetched state does not match the offer: it ends at index {state.Position.Index}, and the "
                        + $"offer at {offer.Index}, or only one of them is a full snapshot."
                );
        }
        catch (ReceivedStateException exception) when (exception.File is { } damaged)
        {
            if (_disk.Exists(damaged))
            {
                _disk.Delete(damaged);
            }

            throw new StateTransferException(exception.Message, exception);
        }
        catch (Exception exception)
            when (exception is ReceivedStateException or StorageFormatException or StateTransferException)
        {
            Clear();
            throw exception as StateTransferException ?? new StateTransferException(exception.Message, exception);
        }
    }

    /// <summary>Deletes all fetched files, if there are any.</summary>
    /// <exception cref="DiskException">A disk operation failed; the next fetch deletes what remains.</exception>
    public void Clear() => NodeBackup.RemoveCheckpoint(_disk, _directory);

    // Whether the directory contains files of this offer, because an earlier fetch was interrupted.
    private bool HasFilesOf(SnapshotOffer offer)
    {
        string path = Path.Join(_directory, OfferName);
        if (!_disk.Exists(path))
        {
            return false;
        }

        using var note = _disk.Open(path, DiskOpen.Read);
        byte[] bytes = new byte[note.Length];
        return note.Read(bytes, 0) == bytes.Length && bytes.AsSpan().SequenceEqual(EncodeNote(offer));
    }

    // The reason and the term are ignored, because the same files may be offered for another reason or in a later term.
    private static byte[] EncodeNote(SnapshotOffer offer) => (offer with { Why = null, CommittedBy = 0 }).Encode();

    private long LengthOf(StateFile file)
    {
        string path = Path.Join(_directory, file.Name);
        if (!_disk.Exists(path))
        {
            return 0;
        }

        using var opened = _disk.Open(path, DiskOpen.Read);
        return Math.Min(opened.Length, file.Bytes);
    }
}

/// <summary>
/// A file that is being fetched. It is synced every 512 KiB, because a larger sync would delay all other syncs on an SD
/// card.
/// </summary>
public sealed class InboxFile : IDisposable
{
    private readonly IDiskFile _file;
    private readonly StateTransferStatistics _statistics;
    private readonly StateTransferKind _kind;
    private long _offset;

    internal InboxFile(IDisk disk, string path, long offset, StateTransferStatistics statistics, StateTransferKind kind)
    {
        _file = disk.Open(path, disk.Exists(path) ? DiskOpen.ReadWrite : DiskOpen.CreateNew);
        _file.SetLength(offset);
        _offset = offset;
        _statistics = statistics;
        _kind = kind;
    }

    /// <summary>Length of the file.</summary>
    public long Length => _offset;

    /// <summary>Appends received bytes.</summary>
    /// <exception cref="DiskException">A disk operation failed.</exception>
    public void Append(ReadOnlySpan<byte> bytes)
    {
        DurableFiles.Append(_file, bytes, ref _offset);
        _statistics.CountReceived(_kind, bytes.Length);
    }

    /// <summary>Syncs the received bytes.</summary>
    /// <exception cref="DiskException">A disk operation failed.</exception>
    public void Sync() => _file.Sync();

    /// <inheritdoc/>
    public void Dispose() => _file.Dispose();
}

/// <summary>A fetched snapshot whose bytes were all checked, so that it can be installed.</summary>
public sealed class FetchedState
{
    internal FetchedState(SnapshotOffer offer, ReceivedState state)
    {
        Offer = offer;
        State = state;
    }

    /// <summary>The offer that was fetched.</summary>
    public SnapshotOffer Offer { get; }

    internal ReceivedState State { get; }
}
