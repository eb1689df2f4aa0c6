namespace Rookery.Journal;

/// <summary>
/// Reads the log's entries in order, from an index through the last index at the time the reader was created. Checks
/// every byte. Pins its unread segments, so that they are not recycled. Used by one thread, which may differ from the
/// writing thread.
/// </summary>
public sealed class JournalReader : IDisposable
{
    private readonly JournalAppender _appender;
    private readonly List<(LogSpan Span, long End)> _spans = [];
    private SegmentWalker? _walker;
    private long _nextIndex;
    private int _current;

    /// <summary>Pins the segments to read. The caller holds the appender's gate.</summary>
    internal JournalReader(JournalAppender appender, long fromIndex)
    {
        _appender = appender;
        _nextIndex = fromIndex;
        foreach (var span in appender.Map.Spans)
        {
            if (span.LastIndex >= fromIndex)
            {
                span.Segment.Pins++;
                _spans.Add((span, span.Segment.End));
            }
        }
    }

    /// <summary>Moves to the next entry.</summary>
    /// <param name="frame">The entry; its payload is valid until the next call.</param>
    /// <returns>False after the last entry.</returns>
    /// <exception cref="JournalDamagedException">The entry is damaged.</exception>
    /// <exception cref="Platform.DiskException">The disk could not be read.</exception>
    public bool Next(out JournalFrame frame)
    {
        while (_current < _spans.Count)
        {
            var (span, end) = _spans[_current];
            if (_nextIndex > span.LastIndex)
            {
                LeaveSpan();
                continue;
            }

            _walker ??= new SegmentWalker(span.Segment, span.Offset, end, span.Write);
            long offset = _walker.Offset;
            if (!_walker.Next(out var header, out var payload))
            {
                throw Damaged(span.Segment, offset);
            }

            if (!header.IsReplicated || header.Index < _nextIndex)
            {
                continue;
            }

            if (header.Index != _nextIndex)
            {
                throw Damaged(span.Segment, offset);
            }

            _nextIndex++;
            frame = new JournalFrame(
                header.Type,
                header.Index,
                header.Term,
                header.OperationsBefore,
                header.OperationCount,
                payload
            );
            return true;
        }

        frame = default;
        return false;
    }

    /// <summary>Releases the buffer and unpins the segments.</summary>
    public void Dispose()
    {
        while (_current < _spans.Count)
        {
            LeaveSpan();
        }
    }

    private void LeaveSpan()
    {
        _walker?.Dispose();
        _walker = null;
        lock (_appender.Gate)
        {
            _spans[_current].Span.Segment.Pins--;
        }

        _current++;
    }

    private JournalDamagedException Damaged(Segment segment, long offset) =>
        new(
            $"{segment.File.Path} is damaged at offset {offset}: entry {_nextIndex} cannot be read back. "
                + $"Nothing was changed. Put back an undamaged copy of the file, or restore a backup.",
            segment.File.Path,
            offset
        );
}
