using Rookery.Disk;
using Rookery.Journal;
using Rookery.Raft;

namespace Rookery.Cluster;

/// <summary>Reads entries that are not in memory any more from the journal, for members that lag, off the consensus lock; one reader at a time, the newest question of each member.</summary>
internal sealed class CatchUp(NodeJournal journal, RaftConsensus consensus) : IThreadPoolWorkItem
{
    private readonly Dictionary<NodeId, Message> _asked = [];

    // Of the reading thread, and of who ends idle ones. A member that lags asks for one piece after the other: a reader that went on from the last finds the next at once.
    private readonly Dictionary<NodeId, OpenReader> _readers = [];
    private readonly Lock _gate = new();
    private bool _isReading;

    /// <summary>Reads the entries that a message names, and has it sent with them. Returns at once.</summary>
    public void Read(in Message message)
    {
        lock (_gate)
        {
            _asked[message.To] = message;
            if (_isReading)
            {
                return;
            }

            _isReading = true;
        }

        ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
    }

    /// <summary>Closes readers that were not used since the last call: they keep segments from being recycled.</summary>
    public void CloseIdle()
    {
        lock (_readers)
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
    }

    /// <inheritdoc/>
    void IThreadPoolWorkItem.Execute()
    {
        while (Next() is { } message)
        {
            try
            {
                consensus.SendRead(message, ReadEntries(message));
            }
            catch (Exception failure) when (failure is DiskException or JournalDamagedException or ArgumentOutOfRangeException or ObjectDisposedException)
            {
                // Released meanwhile, damaged, or the node stops: the member is offered the whole state when it asks again, or another leader's log.
            }
        }
    }

    private Message? Next()
    {
        lock (_gate)
        {
            foreach (var (node, message) in _asked)
            {
                _asked.Remove(node);
                return message;
            }

            _isReading = false;
            return null;
        }
    }

    private JournalFrame[] ReadEntries(in Message message)
    {
        lock (_readers)
        {
            var open = ReaderAt(message.To, message.Position.Index + 1);
            var entries = new JournalFrame[message.LastIndex - message.Position.Index];
            for (int i = 0; i < entries.Length; i++)
            {
                if (!open.Reader.Next(out var entry))
                {
                    Close(message.To);
                    return [];
                }

                entries[i] = entry with { Payload = entry.Payload.ToArray() };
            }

            open.NextIndex = message.LastIndex + 1;
            return entries;
        }
    }

    private OpenReader ReaderAt(NodeId node, long index)
    {
        if (!_readers.TryGetValue(node, out var open) || open.NextIndex != index)
        {
            Close(node);
            open = new OpenReader(journal.Read(index));
            _readers[node] = open;
        }

        // Where it fails half-way it stands nowhere.
        (open.NextIndex, open.WasUsed) = (0, true);
        return open;
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
