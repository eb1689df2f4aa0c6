using Rookery.Disk;

namespace Rookery.Journal;

/// <summary>
/// The journal of a node: one log for all its databases, and the only thing that is synced before a write is acknowledged.
/// </summary>
/// <remarks>
/// Writes come from one thread at a time. <see cref="PrepareSpare"/>, <see cref="ReleaseThrough"/> and readers may be on other threads.
/// </remarks>
public sealed class NodeJournal : IDisposable
{
    /// <summary>Opens the journal in a directory, or begins one in an empty directory, and recovers: afterwards every frame in it is durable.</summary>
    /// <param name="disk">The disk.</param>
    /// <param name="options">Where and how large.</param>
    /// <param name="knowledge">What the manifest says; decides whether a broken end is a torn write or damage.</param>
    /// <param name="io">Is told of every write and sync.</param>
    /// <exception cref="JournalDamagedException">What was durable is missing or damaged, and no peer can give it back.</exception>
    /// <exception cref="JournalFormatException">A newer format version or frame type.</exception>
    /// <exception cref="DiskException">The disk refused; <see cref="Errno.WouldBlock"/> when another process uses the directory.</exception>
    public static NodeJournal Open(IDisk disk, JournalOptions options, JournalKnowledge knowledge, IIoRecorder io) => throw new NotSupportedException();

    /// <summary>Begins a journal that goes on behind <paramref name="start"/> (a restored backup), in a directory that holds none.</summary>
    /// <exception cref="DiskException">With <see cref="Errno.NotEmpty"/> when there is a journal already.</exception>
    public static void Create(IDisk disk, JournalOptions options, JournalPosition start, IIoRecorder io) => throw new NotSupportedException();

    /// <summary>What opening found and did.</summary>
    public JournalRecovery Recovery => throw new NotSupportedException();

    /// <summary>The lowest index that can be read.</summary>
    public long FirstIndex => throw new NotSupportedException();

    /// <summary>The highest index, durable; the index before <see cref="FirstIndex"/> when there is no frame.</summary>
    public long LastIndex => throw new NotSupportedException();

    /// <summary>The term at <see cref="LastIndex"/>.</summary>
    public long LastTerm => throw new NotSupportedException();

    /// <summary>Operations before the next frame: the next operation gets the etag after this number.</summary>
    public long OperationsBeforeNext => throw new NotSupportedException();

    /// <summary>The number of the last durable write; rises by at least one with each.</summary>
    public long LastWrite => throw new NotSupportedException();

    /// <summary>Bytes of all segments that are not released yet. A host flushes when it grows, so that recovery stays short.</summary>
    public long LiveBytes => throw new NotSupportedException();

    /// <summary>The payload of the last vote frame, empty when there is none.</summary>
    public ReadOnlyMemory<byte> Vote => throw new NotSupportedException();

    /// <summary>The payload of the last configuration frame that no cut took back, empty when there is none.</summary>
    public ReadOnlyMemory<byte> Configuration => throw new NotSupportedException();

    /// <summary>
    /// Makes frames durable: one write (in 1 MiB pieces when it is larger), one sync. When it returns they survive a power cut; when it throws
    /// nobody knows, and the journal is latched.
    /// </summary>
    /// <param name="frames">At most one vote, first; then perhaps a cut; then frames whose indexes follow without a gap.</param>
    /// <exception cref="JournalLatchedException">This or an earlier write or sync failed.</exception>
    public void Write(ReadOnlySpan<JournalFrame> frames) => throw new NotSupportedException();

    /// <summary>A reader whose first frame has <paramref name="fromIndex"/>, which lies between <see cref="FirstIndex"/> and the index after <see cref="LastIndex"/>.</summary>
    public JournalReader Read(long fromIndex) => throw new NotSupportedException();

    /// <summary>The manifest holds everything through <paramref name="index"/>, durably: whole segments up to it are recycled. From any thread.</summary>
    public void ReleaseThrough(long index) => throw new NotSupportedException();

    /// <summary>Makes one segment ahead when too few are ready: writes zeros for as long as that takes, so it is called off the commit path. From any thread, one at a time.</summary>
    /// <returns>Whether one was made; call again until it was not.</returns>
    /// <exception cref="DiskException">No room, or the disk failed; the journal goes on without it, try again later.</exception>
    public bool PrepareSpare() => throw new NotSupportedException();

    /// <summary>Notes durably that the node stopped in order; nothing can be written afterwards.</summary>
    /// <exception cref="JournalLatchedException">This or an earlier write or sync failed.</exception>
    public void StopCleanly() => throw new NotSupportedException();

    /// <summary>Closes the files. Without <see cref="StopCleanly"/> the next opening treats the end as torn.</summary>
    public void Dispose() => throw new NotSupportedException();
}
