namespace Rookery.Journal;

/// <summary>
/// Reads the log in order from an index, as it is after all cuts, through the last index at the time the reader was made. Replicated frames only.
/// Every byte is checked. Segments it has still to read are not recycled. Used by one thread; that may be another than the writer's.
/// </summary>
public sealed class JournalReader : IDisposable
{
    /// <summary>Moves to the next frame.</summary>
    /// <param name="frame">The frame; its payload is valid until the next call.</param>
    /// <returns>False behind the last frame.</returns>
    /// <exception cref="JournalDamagedException">A byte on disk is not what was written.</exception>
    /// <exception cref="Disk.DiskException">The disk could not be read.</exception>
    public bool Next(out JournalFrame frame) => throw new NotSupportedException();

    /// <summary>Gives back the buffer and lets segments be recycled.</summary>
    public void Dispose() => throw new NotSupportedException();
}
