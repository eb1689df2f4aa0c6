using Rookery.Journal;
using Rookery.Platform;
using Rookery.Raft;

namespace Rookery.Cluster;

/// <summary>
/// Reads from the journal the entries that are no longer cached, and sends them to lagging members. Used by
/// <see cref="EntrySender"/>. One thread at a time reads, without the consensus lock. The members that wait take turns.
/// Messages for one member keep their order, because the member cannot use a later one before the earlier ones: while
/// <see cref="IsReadingFor"/> is true, messages whose entries are cached are queued here too.
/// </summary>
internal sealed class CatchUp(NodeJournal journal, EntrySender sender, Action<Action> runInBackground)
{
    private readonly Dictionary<NodeId, Queue<Message>> _requested = [];

    // The members with queued messages, each once, in the order of their turns.
    private readonly Queue<NodeId> _turns = new();

    // Locked while a thread reads or closes readers. A lagging member needs consecutive entries, so a reader that stays
    // open finds the next entries at once.
    private readonly Dictionary<NodeId, OpenReader> _readers = [];
    private readonly Lock _gate = new();
    private bool _isReading;
    private NodeId _readingFor;

    /// <summary>Whether a message for a member is queued, or is being read and not sent yet.</summary>
    public bool IsReadingFor(NodeId node)
    {
        lock (_gate)
        {
            return _readingFor == node || _requested.ContainsKey(node);
        }
    }

    /// <summary>Queues a message whose entries are to be read and sent. Returns at once.</summary>
    public void Read(in Message message)
    {
        lock (_gate)
        {
            Enqueue(message);
            if (_isReading)
            {
                return;
            }

            _isReading = true;
        }

        runInBackground(ReadRequested);
    }

    /// <summary>
    /// Closes readers that were not used since the last call, because an open reader keeps segments from being
    /// recycled. Does nothing while a read is running, because the caller holds the consensus lock and must not wait.
    /// </summary>
    public void CloseIdle()
    {
        if (!Monitor.TryEnter(_readers))
        {
            return;
        }

        try
        {
            foreach (var (node, open) in _readers)
            {
                if (!open.WasUsed)
                {
                    open.Reader.Dispose();
                    _readers.Remove(node);
                }

                open.WasUsed = false;
            }
        }
        finally
        {
            Monitor.Exit(_readers);
        }
    }

    /// <summary>
    /// Queues a message. A message of another term, or one that begins at or before the first queued index, replaces
    /// the queued messages.
    /// </summary>
    private void Enqueue(in Message message)
    {
        if (!_requested.TryGetValue(message.To, out var waiting))
        {
            _requested.Add(message.To, waiting = new Queue<Message>());
            _turns.Enqueue(message.To);
        }

        if (
            waiting.TryPeek(out var first)
            && (message.Term != first.Term || message.Position.Index <= first.Position.Index)
        )
        {
            waiting.Clear();
        }

        waiting.Enqueue(message);
    }

    private void ReadRequested()
    {
        while (DequeueNext() is { } message)
        {
            try
            {
                var entries = new JournalFrame[message.LastIndex - message.Position.Index];
                if (!sender.TrySendCached(message, entries))
                {
                    sender.SendRead(message, entries, Read(message, entries));
                }
            }
            catch (Exception failure) when (failure is DiskException or JournalDamagedException)
            {
                sender.ReportUnreadable(message, failure);
            }
            catch (Exception failure) when (failure is ArgumentOutOfRangeException or ObjectDisposedException)
            {
                // The entries were released meanwhile, or the node is stopping. The core repeats the message, or offers
                // a snapshot.
            }
        }
    }

    /// <summary>
    /// Dequeues a message to the member whose turn it is; null ends the read, because no message is queued.
    /// </summary>
    private Message? DequeueNext()
    {
        lock (_gate)
        {
            if (_turns.TryDequeue(out _readingFor))
            {
                var waiting = _requested[_readingFor];
                var message = waiting.Dequeue();
                if (waiting.Count == 0)
                {
                    _requested.Remove(_readingFor);
                }
                else
                {
                    _turns.Enqueue(_readingFor);
                }

                return message;
            }

            _isReading = false;
            return null;
        }
    }

    /// <summary>
    /// Reads the entries of a message that the journal contains. Entries that are not durable yet are in the cache
    /// instead.
    /// </summary>
    private int Read(in Message message, Span<JournalFrame> entries)
    {
        long first = message.Position.Index + 1;
        lock (_readers)
        {
            int count = 0;
            if (_readers.TryGetValue(message.To, out var open) && open.NextIndex == first)
            {
                count = ReadOn(open, first, entries);
            }

            if (count < entries.Length)
            {
                // A reader ends where the journal ended when it was opened, so open a new one.
                Close(message.To);
                _readers[message.To] = open = new OpenReader(journal.Read(first + count));
                count += ReadOn(open, first + count, entries[count..]);
            }

            return count;
        }
    }

    private static int ReadOn(OpenReader open, long first, Span<JournalFrame> entries)
    {
        // If reading fails, the reader's position is unknown. Index 0 matches no message.
        open.NextIndex = 0;
        open.WasUsed = true;
        int count = 0;
        while (count < entries.Length && open.Reader.Next(out var entry))
        {
            entries[count] = entry with { Payload = entry.Payload.ToArray() };
            count++;
        }

        open.NextIndex = first + count;
        return count;
    }

    private void Close(NodeId node)
    {
        if (_readers.Remove(node, out var open))
        {
            open.Reader.Dispose();
        }
    }

    private sealed class OpenReader(JournalReader reader)
    {
        public JournalReader Reader { get; } = reader;

        public long NextIndex { get; set; }

        public bool WasUsed { get; set; }
    }
}
