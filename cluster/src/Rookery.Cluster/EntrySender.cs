using Rookery.Cluster.Log;
using Rookery.Cluster.Peers;
using Rookery.Documents.Nodes;
using Rookery.Journal;
using Rookery.Raft;

namespace Rookery.Cluster;

/// <summary>
/// Sends the core's messages to the other members. Adds the entries' payloads from the cache or, on another thread,
/// from the journal.
/// </summary>
/// <remarks>
/// All fields are guarded by the lock of <see cref="RaftHost"/>. Sending only copies into the connections' buffers, so
/// it is done under the lock.
/// </remarks>
internal sealed class EntrySender
{
    private readonly RaftHost _host;
    private readonly ReplicatedLog _log;
    private readonly NodeStore _store;
    private readonly IPeerNetwork? _network;
    private readonly CatchUp _catchUp;
    private JournalFrame[] _outgoing = new JournalFrame[64];
    private bool _hasReportedUnreadable;

    /// <summary>Makes a sender for a host, on the network that the host's options name.</summary>
    public EntrySender(RaftHost host, ReplicatedLog log, NodeStore store)
    {
        _host = host;
        _log = log;
        _store = store;
        _network = host.Options.Network;
        _catchUp = new CatchUp(store.Journal, this, host.Options.RunInBackground);
    }

    /// <summary>Sends the messages of the core's last step. Under the lock.</summary>
    public void Send()
    {
        if (_network is null)
        {
            return;
        }

        foreach (var message in _host.Output.Messages)
        {
            long first = message.Position.Index + 1;
            if (message.Kind != MessageKind.Append || message.LastIndex < first)
            {
                _network.Send(message, []);
            }
            else if (!IsCached(message) || _catchUp.IsReadingFor(message.To))
            {
                _catchUp.Read(message);
            }
            else
            {
                SendEntries(message, first);
            }
        }
    }

    /// <summary>Closes idle journal readers, so their segments can be recycled. Under the lock.</summary>
    public void CloseIdleReaders() => _catchUp.CloseIdle();

    /// <summary>
    /// Reports to the core that the journal cannot read the entries of a message. The core then offers the member a
    /// snapshot, or transfers leadership.
    /// </summary>
    public void ReportUnreadable(in Message message, Exception failure)
    {
        long first = message.Position.Index + 1;
        if (_store.DurablePosition.Index < first)
        {
            // Flush, because only flushed entries are in a snapshot. Such a snapshot can be offered if no other member
            // can become leader.
            _store.Storage.Memtables.RequestFlush();
        }

        lock (_host.Gate)
        {
            if (!_hasReportedUnreadable)
            {
                _hasReportedUnreadable = true;
                _host.Options.TroubleFound?.Invoke(
                    $"A part of this node's journal that another member misses cannot be read: "
                        + $"{failure.Message} The member gets the state instead, or another member becomes leader. "
                        + $"Check this node's card."
                );
            }

            _host.Step(Input.Unreadable(_host.Now, message.To, first));
            _host.EndStep();
        }
    }

    /// <summary>Sends a message whose entries are all cached, if the log still contains them.</summary>
    /// <returns>False when an entry must be read from the journal.</returns>
    public bool TrySendCached(in Message message, Span<JournalFrame> frames)
    {
        lock (_host.Gate)
        {
            bool isCached = IsCached(message);
            if (isCached)
            {
                SendRead(message, frames, read: 0);
            }

            return isCached;
        }
    }

    private bool IsCached(in Message message) =>
        message.Position.Index + 1 >= _log.Cache.FirstIndex && message.LastIndex <= _log.Cache.LastIndex;

    private void SendEntries(in Message message, long first)
    {
        int count = (int)(message.LastIndex - first + 1);
        if (count > _outgoing.Length)
        {
            _outgoing = new JournalFrame[count * 2];
        }

        for (int i = 0; i < count; i++)
        {
            _log.Cache.TryGet(first + i, out var entry);
            _outgoing[i] = entry!.Frame;
        }

        _network!.Send(message, _outgoing.AsSpan(0, count));
        Array.Clear(_outgoing, 0, count);
    }

    /// <summary>
    /// Sends a message whose first <paramref name="read"/> entries were read from the journal, if the log still
    /// contains them. The remaining entries come from the cache, because they were not durable when the journal was
    /// read.
    /// </summary>
    public void SendRead(in Message message, Span<JournalFrame> frames, int read)
    {
        lock (_host.Gate)
        {
            bool isCurrent = _host.Core.Role == Role.Leader && _host.Core.Term == message.Term;

            // Check each entry: the entries may come from two readers, and some may have been replaced between the
            // reads.
            for (int i = 0; i < read && isCurrent; i++)
            {
                isCurrent = _host.Core.TermAt(frames[i].Index) == frames[i].Term;
            }

            for (int i = read; i < frames.Length && isCurrent; i++)
            {
                isCurrent = _log.Cache.TryGet(message.Position.Index + 1 + i, out var entry);
                frames[i] = entry?.Frame ?? default;
            }

            if (isCurrent)
            {
                _network!.Send(message, frames);
            }
        }
    }
}
