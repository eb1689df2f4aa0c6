using System.Buffers.Binary;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Ids;

namespace Rookery.Documents.Apply;

/// <summary>
/// Identities: named counters of a database. An identity never returns a value twice, unless a client lowers it.
/// </summary>
internal static class IdentityOperations
{
    /// <summary>Increments an identity.</summary>
    /// <param name="context">State of the command.</param>
    /// <param name="lowerName">The identity's name, lower-cased, with the <c>|</c> at its end.</param>
    /// <returns>The new value.</returns>
    public static OperationResult Next(ApplyContext context, ReadOnlySpan<byte> lowerName)
    {
        long value = Last(context, lowerName) + 1;
        Set(context, lowerName, value);
        return ResultOf(value);
    }

    /// <summary>Returns the key of an identity's row.</summary>
    /// <param name="key">Receives the key.</param>
    /// <param name="database">Number of the database.</param>
    /// <param name="lowerName">The identity's name, lower-cased, with the <c>|</c> at its end; empty for the numbers of
    /// ids that end in <c>/</c>.</param>
    public static ReadOnlySpan<byte> RowOf(Span<byte> key, uint database, ReadOnlySpan<byte> lowerName) =>
        lowerName.IsEmpty
            ? Key.WritePrefix(key, database, Table.IdNumbers)
            : Key.WriteText(key, database, Table.Identities, lowerName);

    /// <summary>Returns the last value of an identity; 0 if it was never used.</summary>
    public static long Last(ApplyContext context, ReadOnlySpan<byte> lowerName) => Read(context, lowerName, out _);

    /// <summary>Sets the last value of an identity, upwards or downwards.</summary>
    public static void Set(ApplyContext context, ReadOnlySpan<byte> lowerName, long value)
    {
        Read(context, lowerName, out bool exists);
        Write(context, lowerName, value, exists);
    }

    /// <summary>Takes the next number whose id no document has, for the id of a new document.</summary>
    /// <param name="context">State of the command.</param>
    /// <param name="id">The id: it ends in <c>|</c> and is numbered by its identity, or in <c>/</c> and is numbered by
    /// the database, whatever its prefix.</param>
    /// <param name="ids">Tells which numbers are taken.</param>
    public static long TakeFree<T>(ApplyContext context, scoped in CommandId id, T ids)
        where T : INumberedIds, allows ref struct
    {
        Span<byte> name = stackalloc byte[DocumentId.MaxBytes];
        name = id.Kind == CommandIdKind.NumberedInDatabase ? default : name[..id.WriteLowerName(name)];
        long number = FreeNumber.Find(ids, Read(context, name, out bool exists));
        Write(context, name, number, exists);
        return number;
    }

    /// <summary>Sets an identity; lowers it only with <see cref="IdentitySeedCommand.IsForced"/>.</summary>
    /// <returns>The resulting value.</returns>
    public static OperationResult Seed(ApplyContext context, in IdentitySeedCommand command)
    {
        long value = Read(context, command.Name, out bool exists);
        if (exists && !command.IsForced && value >= command.Value)
        {
            return ResultOf(value);
        }

        Write(context, command.Name, command.Value, exists);
        return ResultOf(command.Value);
    }

    private static OperationResult ResultOf(long value) =>
        new()
        {
            Status = OperationStatus.Numbered,
            Low = value,
            High = value,
        };

    private static long Read(ApplyContext context, ReadOnlySpan<byte> lowerName, out bool exists)
    {
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        exists = context.Batch.TryGet(RowOf(key, context.Database.Number, lowerName), out var row);
        if (!exists)
        {
            return 0;
        }

        using (row)
        {
            return BinaryPrimitives.ReadInt64LittleEndian(row.Value);
        }
    }

    private static void Write(ApplyContext context, ReadOnlySpan<byte> lowerName, long value, bool exists)
    {
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        Span<byte> bytes = stackalloc byte[sizeof(long)];
        BinaryPrimitives.WriteInt64LittleEndian(bytes, value);
        context.Database.Counters.Identities += exists || lowerName.IsEmpty ? 0 : 1;
        context.Batch.Put(RowOf(key, context.Database.Number, lowerName), context.Etag, bytes);
    }
}
