using System.Buffers;
using System.Buffers.Binary;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;

namespace Rookery.Cluster.Peers;

/// <summary>
/// Proposes the commands that another member forwards over one connection, and sends back each outcome.
/// </summary>
internal sealed class ForwardedProposals(LinkContext context, PeerConnection connection)
{
    /// <summary>
    /// The maximum number of bytes of commands in flight on one connection. The sender waits when it is reached, and
    /// the receiver closes a connection that exceeds it. A single larger command may be in flight alone.
    /// </summary>
    public const long MaxBytesInFlight = 8 << 20;

    private const int OverheadBytes = 512; // the objects around a command, and its outcome
    private const int OutcomeHeadBytes = 64; // more than the bytes before an outcome in its packet

    private long _bytesInFlight;

    /// <summary>Returns the bytes that a command counts towards the limit.</summary>
    public static long ChargeOf(int commandBytes) => commandBytes + OverheadBytes;

    /// <summary>Proposes a command.</summary>
    /// <param name="kind">The kind of the packet.</param>
    /// <param name="body">The body of the packet.</param>
    /// <exception cref="PeerProtocolException">The packet is malformed, or exceeds the limit.</exception>
    public void Propose(PacketKind kind, ReadOnlySpan<byte> body)
    {
        int head = kind == PacketKind.ForwardInTerm ? ForwardBody.HeadBytes : sizeof(long);
        if (body.Length <= head)
        {
            throw new PeerProtocolException("A forwarded command is empty.");
        }

        long number = BinaryPrimitives.ReadInt64LittleEndian(body);
        var bytes = body[head..];
        long charge = ChargeOf(bytes.Length);
        long allBytes = Interlocked.Add(ref _bytesInFlight, charge);
        if (allBytes > MaxBytesInFlight && allBytes > charge)
        {
            throw new PeerProtocolException($"More than {MaxBytesInFlight} bytes of commands were forwarded at once.");
        }

        var command = CommandBuffer.Rent(bytes.Length);
        command.Write(bytes);
        if (kind == PacketKind.ForwardInTerm)
        {
            command.LeaderTerm = BinaryPrimitives.ReadInt64LittleEndian(body[sizeof(long)..]);
            command.WantsReceipt = body[head - 1] != 0;
        }
        else
        {
            command.WantsReceipt = kind == PacketKind.ForwardForReceipt;
        }

        _ = AnswerAsync(number, command, charge);
    }

    private async Task AnswerAsync(long number, CommandBuffer command, long charge)
    {
        var outcome = await ProposeAsync(command);
        try
        {
            var body = new OutcomeBody(
                number,
                OutcomeCodec.SizeOf(outcome) + OutcomeHeadBytes > PeerProtocol.MaxBulkPacketBytes
                    ? PeerRefusals.AnswerTooLarge
                    : outcome
            );
            long room = body.SizeInBytes + PeerProtocol.PacketHeadBytes;
            if (
                await connection.Queue.Room.EnterAsync(room, heldBytes: 0, Timeout.InfiniteTimeSpan, connection.Closing)
            )
            {
                Interlocked.Add(ref _bytesInFlight, -charge);
                if (!connection.Queue.Put(body, room, mark: 0))
                {
                    connection.Close("There was no memory for the outcome of a forwarded write.");
                }
            }
        }
        catch (Exception trouble)
        {
            // Usually the connection is closed already, and this does nothing. Otherwise closing it answers the caller
            // at the other end, which would wait for ever.
            connection.Close(PeerConnection.Explain(trouble));
        }
        finally
        {
            OutcomeCodec.DisposeDocuments(outcome);
        }
    }

    private async Task<CommandOutcome> ProposeAsync(CommandBuffer command)
    {
        // Proposing first reads the documents that the command replaces. That could block the thread that reads this
        // connection for so long that the other end closes the connection.
        await Task.CompletedTask.ConfigureAwait(ConfigureAwaitOptions.ForceYielding);
        try
        {
            return await context.Receiver.ProposeForwardedAsync(command, connection.Closing);
        }
        catch (CommandFormatException format)
        {
            return new CommandOutcome(new Rejection(RejectionKind.Invalid, format.Message));
        }
        catch (Exception trouble)
        {
            context.Log.Report(
                $"A write that node {context.NameOf(connection.Remote.Member) ?? connection.Remote.NodeId} "
                    + $"forwarded failed: {trouble.Message}"
            );
            return PeerRefusals.LeaderFailed;
        }
    }
}
