using System.Buffers.Binary;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Platform;

namespace Rookery.Cluster.Peers;

/// <summary>The unanswered commands that were forwarded over one connection, by number. Thread-safe.</summary>
/// <param name="queue">The connection's outgoing packets.</param>
/// <param name="time">The clock.</param>
/// <param name="knowsTerms">Whether the other end's version reads the leader's term in a forwarded command.</param>
internal sealed class ForwardTable(OutgoingQueue queue, TimeProvider time, bool knowsTerms) : IPacketHandler
{
    private readonly Lock _gate = new();
    private readonly Dictionary<long, PendingForward> _pending = [];
    private readonly Admission _room = new(ForwardedProposals.MaxBytesInFlight, time);
    private long _lastNumber;
    private bool _isBroken;

    /// <inheritdoc cref="IPeerNetwork.ForwardAsync"/>
    public async ValueTask<CommandOutcome> ForwardAsync(CommandBuffer command, CancellationToken cancellationToken)
    {
        if (command.Length > PeerProtocol.MaxBulkPacketBytes - PeerProtocol.PacketHeadBytes - ForwardBody.HeadBytes)
        {
            return PeerRefusals.TooLarge;
        }

        long charge = ForwardedProposals.ChargeOf(command.Length);
        try
        {
            if (!await _room.EnterAsync(charge, cancellationToken))
            {
                return PeerRefusals.Overloaded;
            }
        }
        catch (OperationCanceledException)
        {
            return PeerRefusals.CanceledBeforeSent;
        }

        var forward = new PendingForward(_room, charge);
        Send(forward, command);
        return await forward.WaitAsync(cancellationToken);
    }

    /// <summary>Completes a forward with its outcome.</summary>
    public void Handle(PacketKind kind, ReadOnlyMemory<byte> body)
    {
        if (kind != PacketKind.Outcome || body.Length < sizeof(long))
        {
            throw new PeerProtocolException("A packet arrived of a kind that is not sent on this connection.");
        }

        var forward =
            Remove(BinaryPrimitives.ReadInt64LittleEndian(body.Span))
            ?? throw new PeerProtocolException("An outcome came of a command that was not forwarded.");
        CommandOutcome outcome;
        try
        {
            outcome = OutcomeCodec.Read(body.Span[sizeof(long)..]);
        }
        catch
        {
            // The outcome is malformed, or there is no memory for its documents. The exception closes the connection,
            // which answers only the forwards that are still in the table.
            forward.Complete(PeerRefusals.OutcomeUnknown);
            throw;
        }

        forward.Complete(outcome);
    }

    /// <summary>
    /// Completes all forwards, because the connection broke: with <see cref="PeerRefusals.OutcomeUnknown"/> when the
    /// command may have been sent, otherwise with <see cref="PeerRefusals.NeverSent"/>.
    /// </summary>
    public void Break()
    {
        lock (_gate)
        {
            _isBroken = true;
            foreach (var (number, forward) in _pending)
            {
                forward.Complete(number <= queue.TakenMark ? PeerRefusals.OutcomeUnknown : PeerRefusals.NeverSent);
            }

            _pending.Clear();
        }
    }

    private void Send(PendingForward forward, CommandBuffer command)
    {
        long number = Add(forward);
        if (number == 0)
        {
            forward.Complete(PeerRefusals.NeverSent);
        }
        else if (!Put(number, command))
        {
            Remove(number)?.Complete(PeerRefusals.NeverSent);
        }
    }

    private bool Put(long number, CommandBuffer command) =>
        knowsTerms
            ? queue.Put(new ForwardBody(number, command), charge: 0, mark: number)
            : queue.Put(new OldForwardBody(number, command), charge: 0, mark: number);

    /// <summary>Adds a forward, and returns its number; 0 when the connection is broken.</summary>
    private long Add(PendingForward forward)
    {
        lock (_gate)
        {
            if (_isBroken)
            {
                return 0;
            }

            _lastNumber++;
            _pending.Add(_lastNumber, forward);
            return _lastNumber;
        }
    }

    private PendingForward? Remove(long number)
    {
        lock (_gate)
        {
            return _pending.Remove(number, out var forward) ? forward : null;
        }
    }
}
