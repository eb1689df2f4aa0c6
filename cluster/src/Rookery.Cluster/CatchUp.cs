using Rookery.Journal;
using Rookery.Platform;
using Rookery.Raft;

namespace Rookery.Cluster;

/// <summary>
/// Reads entries that are not in memory any more from the journal, for members that lag, off the consensus lock; one
/// reader at a time. What a member is to be sent is read in the order in which the core wants it sent: a whole window
/// of messages is asked for at once, and a member has no use for the last of them without those before.
/// </summary>
internal sealed class CatchUp(NodeJournal journal, EntrySender receiver, Action<Action> runBeside)
{
    private readonly Dictionary<NodeId, Queue<Message>> _asked = [];

    // Of the reading thread, and of who ends idle ones. A member that lags asks for one piece after the other: a reader
    // that went on from the last finds the next at once.
    private readonly Dictionary<NodeId, OpenReader> _readers = [];
    private readonly Lock _gate = new();
    private bool _isReading;

    /// <summary>Reads the entries that a message names, and has it sent with them. Returns at once.</summary>
    public void Read(in Message message)
    {
        lock (_gate)
        {
            Ask(message);
            if (_isReading)
            {
                return;
            }

            _isReading = true;
        }

        runBeside(ReadAsked);
    }

    /// <summary>
    /// Closes readers that were not used since the last call: they keep segments from being recycled. Does not wait
    /// while one reads, because consensus calls it under its lock.
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
    /// What begins again, in another term or further in front, takes the place of what was to follow.
    /// </summary>
    private void Ask(in Message message)
    {
        if (!_asked.TryGetValue(message.To, out var waiting))
        {
            _asked.Add(message.To, waiting = new Queue<Message>());
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

    private void ReadAsked()
    {
        while (Next() is { } message)
        {
            try
            {
                var entries = new JournalFrame[message.LastIndex - message.Position.Index];
                receiver.SendRead(message, entries, Read(message, entries));
            }
            catch (Exception failure) when (failure is DiskException or JournalDamagedException)
            {
                receiver.CannotRead(message, failure);
            }
            catch (Exception failure) when (failure is ArgumentOutOfRangeException or ObjectDisposedException)
            {
                // Released meanwhile, or the node stops: the member is offered the whole state when it asks again, or
                // another leader's log.
            }
        }
    }

    private Message? Next()
    {
        lock (_gate)
        {
            foreach (var (node, waiting) in _asked)
            {
                var message = waiting.Dequeue();
                if (waiting.Count == 0)
                {
                    _asked.Remove(node);
                }

                return message;
            }

            _isReading = false;
            return null;
        }
    }

    /// <summary>
    /// Reads as many of a message's entries as the journal has; those that it does not have yet are in memory.
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
                // A reader ends where the journal ended when it was made.
                Close(message.To);
                _readers[message.To] = open = new OpenReader(journal.Read(first + count));
                count += ReadOn(open, first + count, entries[count..]);
            }

            return count;
        }
    }

    private static int ReadOn(OpenReader open, long first, Span<JournalFrame> entries)
    {
        // Where it fails half-way it stands nowhere.
        (open.NextIndex, open.WasUsed) = (0, true);
        int count = 0;
        while (count < entries.Length && open.Reader.Next(out var entry))
        {
            entries[count++] = entry with { Payload = entry.Payload.ToArray() };
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
