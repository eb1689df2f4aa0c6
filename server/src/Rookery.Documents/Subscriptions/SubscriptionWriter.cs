using System.Buffers.Binary;
using System.Text;
using Rookery.Documents.Commands;
using Rookery.Platform;

namespace Rookery.Documents.Subscriptions;

/// <summary>Encodes each <see cref="CommandKind.ChangeSubscription"/>; the caller owns the buffer.</summary>
/// <remarks>
/// After the header: <c>[kind u8][flags u8][start kind u8][number i64][start i64][expected i64][connected ticks
/// i64][version i64][lower-cased name][name][mentor][query or worker]</c>. A varint length precedes each text.
/// </remarks>
public static class SubscriptionWriter
{
    internal const byte ChangesMentor = 1;
    internal const byte ChangesPin = 2;
    internal const byte Pinned = 4;
    internal const byte ChangesState = 8;
    internal const byte Disabled = 16;
    internal const byte Creates = 32;
    internal const byte MustBeNew = 64;
    internal const int HeadBytes = 3 + (5 * sizeof(long));

    /// <summary>Encodes a definition, or the change of one.</summary>
    /// <param name="database">The database's number.</param>
    /// <param name="key">The request's idempotency key, or none.</param>
    /// <param name="name">A valid name; null for none: a new subscription gets its number as name.</param>
    /// <param name="command">The other members.</param>
    public static CommandBuffer Put(uint database, IdempotencyKey key, string? name, in SubscriptionCommand command)
    {
        Invariant.Holds(
            command.Query.Length <= SubscriptionRecord.MaxQueryBytes,
            "queries of subscriptions are checked before they are encoded"
        );
        return Encode(database, key, name, command);
    }

    /// <summary>Encodes a deletion. A missing subscription is no error.</summary>
    public static CommandBuffer Delete(uint database, IdempotencyKey key, string name) =>
        Encode(database, key, name, new SubscriptionCommand { Kind = SubscriptionCommandKind.Delete });

    /// <summary>Encodes the drop of all workers of a subscription, or of one.</summary>
    public static CommandBuffer Drop(uint database, string name, string? workerId) =>
        Encode(
            database,
            key: default,
            name,
            new SubscriptionCommand
            {
                Kind = SubscriptionCommandKind.Drop,
                Query = workerId is null ? [] : Encoding.UTF8.GetBytes(workerId),
            }
        );

    /// <summary>Encodes an acknowledgement.</summary>
    /// <param name="database">The database's number.</param>
    /// <param name="number">The subscription's number.</param>
    /// <param name="version">Version of the subscription whose documents were sent.</param>
    /// <param name="expected">The progress before.</param>
    /// <param name="progress">The progress after.</param>
    /// <param name="connectedTicks">When the worker connected, in UTC ticks.</param>
    public static CommandBuffer Acknowledge(
        uint database,
        long number,
        long version,
        long expected,
        long progress,
        long connectedTicks
    ) =>
        Encode(
            database,
            key: default,
            name: null,
            new SubscriptionCommand
            {
                Kind = SubscriptionCommandKind.Acknowledge,
                Number = number,
                Start = progress,
                Expected = expected,
                Version = version,
                ConnectedTicks = connectedTicks,
            }
        );

    private static CommandBuffer Encode(uint database, IdempotencyKey key, string? name, in SubscriptionCommand command)
    {
        Invariant.Holds(
            name is null || SubscriptionRecord.NameProblem(name) is null,
            "names of subscriptions are checked before they are encoded"
        );
        var buffer = CommandBuffer.Rent();
        CommandFormat.WriteHeader(buffer, CommandKind.ChangeSubscription, database, operations: 1, key);
        var head = buffer.GetSpan(HeadBytes);
        head[0] = (byte)command.Kind;
        head[1] = FlagsOf(command);
        head[2] = (byte)command.StartKind;
        BinaryPrimitives.WriteInt64LittleEndian(head[3..], command.Number);
        BinaryPrimitives.WriteInt64LittleEndian(head[11..], command.Start);
        BinaryPrimitives.WriteInt64LittleEndian(head[19..], command.Expected);
        BinaryPrimitives.WriteInt64LittleEndian(head[27..], command.ConnectedTicks);
        BinaryPrimitives.WriteInt64LittleEndian(head[35..], command.Version);
        buffer.Advance(HeadBytes);
        WriteBytes(buffer, name is null ? [] : SubscriptionRecord.LowerBytes(name));
        WriteBytes(buffer, name is null ? [] : Encoding.UTF8.GetBytes(name));
        WriteBytes(buffer, command.Mentor);
        WriteBytes(buffer, command.Query);
        RequestHash.Write(buffer);
        return buffer;
    }

    private static byte FlagsOf(in SubscriptionCommand command) =>
        (byte)(
            (command.ChangesMentor ? ChangesMentor : 0)
            | (command.IsPinned is null ? 0 : ChangesPin)
            | (command.IsPinned is true ? Pinned : 0)
            | (command.IsDisabled is null ? 0 : ChangesState)
            | (command.IsDisabled is true ? Disabled : 0)
            | (command.Creates ? Creates : 0)
            | (command.MustBeNew ? MustBeNew : 0)
        );

    private static void WriteBytes(CommandBuffer buffer, ReadOnlySpan<byte> bytes) =>
        buffer.Advance(Varint.WriteBytes(buffer.GetSpan(Varint.MaxBytes32 + bytes.Length), bytes));
}
