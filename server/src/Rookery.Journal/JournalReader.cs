namespace Rookery.Journal;

/// <summary>
/// Reads the log in order from an index, as it is after all cuts, through the last index at the time the reader was made. Replicated frames only.
/// Every byte is checked. Segments it has still to read are not recycled. Used by one thread; that may be another than the writer's.
/// </summary>
public sealed class JournalReader : IDisposable
{
    private readonly JournalAppender appender;
    private readonly List<(LogSpan Span, long End)> spans = [];
    private SegmentWalker? walker;
    private long nextIndex;
    private int current;

    /// <summary>Pins what is to be read. The caller holds the appender's gate.</summary>
    internal JournalReader(JournalAppender appender, long fromIndex)
    {
        this.appender = appender;
        nextIndex = fromIndex;
        foreach (var span in appender.Map.Spans)
        {
            if (span.LastIndex >= fromIndex)
            {
                span.Segment.Pins++;
                spans.Add((span, span.Segment.End));
            }
        }
    }

    /// <summary>Moves to the next frame.</summary>
    /// <param name="frame">The frame; its payload is valid until the next call.</param>
    /// <returns>False behind the last frame.</returns>
    /// <exception cref="JournalDamagedException">A byte on disk is not what was written.</exception>
    /// <exception cref="Disk.DiskException">The disk could not be read.</exception>
    public bool Next(out JournalFrame frame)
    {
        while (current < spans.Count)
        {
            var (span, end) = spans[current];
            if (nextIndex > span.LastIndex)
            {
                LeaveSpan();
                continue;
            }

            walker ??= new SegmentWalker(span.Segment, span.Offset, end, span.Write);
            long offset = walker.Offset;
            if (!walker.Next(out var header, out var payload))
            {
                throw Damaged(span.Segment, offset);
            }

            if (!header.IsReplicated || header.Index < nextIndex)
            {
                continue;
            }

            if (header.Index != nextIndex)
            {
                throw Damaged(span.Segment, offset);
            }

            nextIndex++;
            frame = new JournalFrame(header.Type, header.Index, header.Term, header.OperationsBefore, header.OperationCount, payload);
            return true;
        }

        frame = default;
        return false;
    }

    /// <summary>Gives back the buffer and lets segments be recycled.</summary>
    public void Dispose()
    {
        while (current < spans.Count)
        {
            LeaveSpan();
        }
    }

    private void LeaveSpan()
    {
        walker?.Dispose();
        walker = null;
        lock (appender.Gate)
        {
            spans[current].Span.Segment.Pins--;
        }

        current++;
    }

    private JournalDamagedException Damaged(Segment segment, long offset) => new(
        $"{segment.File.Path} is damaged at offset {offset}: entry {nextIndex} cannot be read back. Nothing was changed. Put back an undamaged copy of the file, or restore a backup.",
        segment.File.Path,
        offset);
}
