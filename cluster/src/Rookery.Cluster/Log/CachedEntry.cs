using System.Buffers;
using System.Buffers.Binary;
using Rookery.Cluster.Commit;
using Rookery.Documents.Apply;
using Rookery.Documents.Attachments;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Nodes;
using Rookery.Journal;
using Rookery.Platform;
using Rookery.Raft;

namespace Rookery.Cluster.Log;

/// <summary>
/// One log entry in memory: its payload as encoded for the journal and the network. An entry that was proposed on this
/// node also has the uncompressed commands (the content) and the proposals that wait for its outcomes.
/// Reference-counted and reused. <see cref="Retain"/> and <see cref="Release"/> are called under the consensus lock.
/// </summary>
internal sealed class CachedEntry
{
    /// <summary>
    /// The maximum number of bytes of commands in one entry. A single larger command gets its own entry. With all
    /// headers, the entry's frame fits a buffer of 1 MiB.
    /// </summary>
    public const int MaxBytes = (1 << 20) - 4096;

    private readonly List<Proposal> _proposals = [];
    private PooledMemory _content;
    private PooledMemory _encoded;
    private int _contentLength;
    private int _encodedLength;
    private CommandOutcome[] _outcomes = [];
    private int _references;

    /// <summary>The type of the entry.</summary>
    public FrameType Type { get; private set; }

    /// <summary>The entry's position in the log.</summary>
    public LogEntryPosition Position { get; private set; }

    /// <summary>The number of proposals that wait for the entry's outcomes.</summary>
    public int ProposalCount => _proposals.Count;

    /// <summary>The number of operations of the entry's commands, each of which uses one etag.</summary>
    public int OperationCount { get; private set; }

    /// <summary>Whether one of the waiting callers asked for a receipt.</summary>
    public bool WantsReceipt { get; private set; }

    /// <summary>
    /// The members that had synced the entry when it was committed; null if no caller asked for a receipt. Set before
    /// the entry is applied.
    /// </summary>
    public CommitReceipt? Receipt { get; set; }

    /// <summary>Whether a command of the entry names contents of attachments.</summary>
    public bool NamesContents { get; private set; }

    /// <summary>The size of the payload in bytes.</summary>
    public int PayloadBytes => _encodedLength;

    /// <summary>The entry as a frame, which is written to the journal and sent to members.</summary>
    public JournalFrame Frame =>
        new(
            Type,
            Position.Index,
            Position.Term,
            Position.OperationsBefore,
            Position.OperationCount,
            _encoded.Memory[.._encodedLength]
        );

    /// <summary>
    /// Moves as many proposals as fit from the front of <paramref name="waiting"/> into this entry, and encodes the
    /// payload, compressed and checksummed.
    /// </summary>
    /// <exception cref="OutOfMemoryException">The payload does not fit in memory. The proposals are in this
    /// entry.</exception>
    public void Fill(Queue<Proposal> waiting, LogTime time)
    {
        int bytes = 0;
        while (waiting.TryPeek(out var proposal) && (_proposals.Count == 0 || bytes + proposal.Bytes <= MaxBytes))
        {
            bytes += proposal.Bytes + EntryContent.CommandHeadBytes;
            WantsReceipt |= proposal.WantsReceipt;
            NamesContents |= CommandReader.NamesContentsIn(proposal.Command.Span);
            _proposals.Add(waiting.Dequeue());
        }

        Type = FrameType.Batch;
        _contentLength = EntryContent.HeadBytes + bytes;
        EncodePayload(time);
    }

    /// <summary>Adds the attachment contents that the commands of a filled entry name.</summary>
    public void AddContentsTo(ICollection<ContentName> names) =>
        ContentName.AddOfEntry(_content.Span[.._contentLength], names);

    /// <summary>Sets the log position of a filled entry.</summary>
    public void SetPosition(long index, long term, long operationsBefore) =>
        Position = new LogEntryPosition(index, term, operationsBefore, OperationCount);

    /// <summary>Copies an entry that a leader sent or that the core appended.</summary>
    public void CopyFrom(in JournalFrame frame)
    {
        Type = frame.Type;
        OperationCount = frame.OperationCount;
        SetPosition(frame.Index, frame.Term, frame.OperationsBefore);
        _encodedLength = frame.Payload.Length;
        if (_encodedLength > 0)
        {
            _encoded = PooledMemory.Rent(_encodedLength);
            frame.Payload.Span.CopyTo(_encoded.Span);
        }
    }

    /// <summary>
    /// Applies the entry, which is committed and durable here. Keeps the outcomes for <see cref="Answer"/>.
    /// </summary>
    public void Apply(NodeStore store)
    {
        if (_contentLength == 0)
        {
            Replay.Apply(Frame, store.Applier);
            return;
        }

        _outcomes = ArrayPool<CommandOutcome>.Shared.Rent(_proposals.Count);
        store.Applier.Apply(Position, _content.Span[.._contentLength], _outcomes.AsSpan(0, _proposals.Count));
    }

    /// <summary>Answers every caller of the entry.</summary>
    /// <param name="admission">Releases the bytes that it admitted for the commands.</param>
    /// <param name="continuesInline">Whether the callers continue on this thread, within this call.</param>
    public void Answer(Admission admission, bool continuesInline)
    {
        for (int i = 0; i < _proposals.Count; i++)
        {
            var proposal = _proposals[i];
            var outcome = proposal.WantsReceipt ? _outcomes[i] with { Receipt = Receipt } : _outcomes[i];
            admission.Leave(proposal.Bytes);
            proposal.Complete(outcome, continuesInline);
        }

        Reset();
    }

    /// <summary>Refuses every caller of the entry. The entry may stay in the log.</summary>
    /// <param name="rejection">The reason.</param>
    /// <param name="admission">Releases the bytes that it admitted for the commands.</param>
    /// <param name="continuesInline">Whether the callers continue on this thread, within this call.</param>
    public void Refuse(Rejection rejection, Admission admission, bool continuesInline)
    {
        foreach (var proposal in _proposals)
        {
            admission.Leave(proposal.Bytes);
            proposal.Complete(new CommandOutcome(rejection), continuesInline);
        }

        Reset();
    }

    /// <summary>
    /// Returns the proposals to the front of <paramref name="waiting"/>, because the entry was not placed in the log.
    /// Keeps their order, because a bulk insert may contain two versions of one document.
    /// </summary>
    /// <exception cref="OutOfMemoryException">There is no memory for their commands. All proposals stay
    /// here.</exception>
    public void ReturnProposals(Queue<Proposal> waiting)
    {
        var content = new EntryContent(_content.Span[.._contentLength]);
        foreach (var proposal in _proposals)
        {
            proposal.RestoreCommand(content.Next());
        }

        // A queue has no insertion at its front: append this entry's proposals, then move the later ones after them.
        int laterProposals = waiting.Count;
        _proposals.ForEach(waiting.Enqueue);
        for (int i = 0; i < laterProposals; i++)
        {
            waiting.Enqueue(waiting.Dequeue());
        }

        Reset();
    }

    /// <summary>
    /// Releases the encoded payload if the entry still has its content, from which it is applied. The journal already
    /// holds the payload.
    /// </summary>
    public void ReleasePayload()
    {
        if (_contentLength > 0)
        {
            _encoded.Return();
            _encodedLength = 0;
        }
    }

    /// <summary>Adds a reference.</summary>
    public void Retain() => _references++;

    /// <summary>Drops a reference. The last one releases the payload.</summary>
    /// <returns>Whether it was the last reference.</returns>
    public bool Release()
    {
        Invariant.Holds(_references > 0, "an entry is released as often as it is retained");
        _references--;
        if (_references > 0)
        {
            return false;
        }

        Invariant.Holds(_proposals.Count == 0, "a released entry has no waiting proposals");
        _encoded.Return();
        _encodedLength = 0;
        OperationCount = 0;
        return true;
    }

    private void EncodePayload(LogTime time)
    {
        Invariant.Holds(_proposals.Count > 0, "a batch has a command");
        _content = PooledMemory.Rent(_contentLength);
        var content = _content.Span[.._contentLength];
        EntryContent.WriteHead(content, time.Ticks, time.IsSteady, _proposals.Count);
        int offset = EntryContent.HeadBytes;
        int operations = 0;
        foreach (var proposal in _proposals)
        {
            BinaryPrimitives.WriteInt32LittleEndian(content[offset..], proposal.Bytes);
            proposal.Command.Span.CopyTo(content[(offset + EntryContent.CommandHeadBytes)..]);
            offset += EntryContent.CommandHeadBytes + proposal.Bytes;
            operations = checked(operations + proposal.OperationCount);
            proposal.ReleaseCommand();
        }

        Invariant.Holds(offset == _contentLength, "an entry is as long as its commands");
        OperationCount = operations;
        _encoded = PooledMemory.Rent(Payload.MaxEncodedLength(_contentLength));
        _encodedLength = Payload.Encode(content, _encoded.Span, NamesContents);
    }

    private void Reset()
    {
        _proposals.Clear();
        WantsReceipt = false;
        NamesContents = false;
        Receipt = null;
        _content.Return();
        _contentLength = 0;
        ArrayPool<CommandOutcome>.Shared.Return(_outcomes, clearArray: true);
        _outcomes = [];
    }
}
