using System.Text;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Json;
using Rookery.Server.Raven.CompareExchange;

namespace Rookery.Server.Raven.Counters;

/// <summary>Writes counters into responses.</summary>
internal static class CounterJson
{
    /// <summary>Bytes that a detail takes besides its id and name.</summary>
    public const int DetailBytes = 160;

    /// <summary>
    /// Writes <c>{"DocumentId":…,"CounterName":…,"TotalValue":…}</c>, or null for a counter that does not exist.
    /// </summary>
    /// <param name="output">Receives the JSON.</param>
    /// <param name="id">The document's id.</param>
    /// <param name="name">The counter's name.</param>
    /// <param name="value">The value; null without the counter.</param>
    /// <param name="changeVector">If not null: the change vector under which CounterValues has the value.</param>
    public static void WriteDetail(
        ResponseBuffer output,
        ReadOnlySpan<byte> id,
        ReadOnlySpan<byte> name,
        long? value,
        string? changeVector = null
    )
    {
        if (value is not { } number)
        {
            output.Write("null"u8);
            return;
        }

        WriteNames(output, id, name);
        CompareExchangeJson.WriteNumber(output, number);
        if (changeVector is not null)
        {
            // All members have the same value, so there is one entry. RavenDB has one for each node.
            output.Write(",\"CounterValues\":{\""u8);
            output.Write(Encoding.ASCII.GetBytes(changeVector));
            output.Write("\":"u8);
            CompareExchangeJson.WriteNumber(output, number);
            output.Write("}"u8);
        }

        output.Write("}"u8);
    }

    /// <summary>
    /// Writes the detail of one operation of a batch. As in RavenDB, a deletion has none.
    /// </summary>
    /// <param name="output">Receives the JSON.</param>
    /// <param name="operation">The operation.</param>
    /// <param name="result">Its result.</param>
    /// <param name="isFirst">Whether no detail precedes it.</param>
    /// <param name="mayRead">Whether the caller may know the value; otherwise it is null.</param>
    /// <param name="changeVectorOf">If not null: the database that gives the change vector for CounterValues.</param>
    /// <returns>Whether a detail was written.</returns>
    public static bool TryWriteResult(
        ResponseBuffer output,
        in BatchedCounter operation,
        in OperationResult result,
        bool isFirst,
        bool mayRead,
        Database? changeVectorOf = null
    )
    {
        if (operation.Kind == OperationKind.CounterDelete)
        {
            return false;
        }

        output.Write(isFirst ? ""u8 : ","u8);
        byte[] id = Encoding.UTF8.GetBytes(operation.Id);
        byte[] name = Encoding.UTF8.GetBytes(operation.Name);
        if (!mayRead)
        {
            WriteNames(output, id, name);
            output.Write("null}"u8);
            return true;
        }

        WriteDetail(
            output,
            id,
            name,
            result.Status == OperationStatus.Numbered ? result.Low : null,
            changeVectorOf?.ChangeVectorOf(result.Etag)
        );
        return true;
    }

    private static void WriteNames(ResponseBuffer output, ReadOnlySpan<byte> id, ReadOnlySpan<byte> name)
    {
        output.Write("{\"DocumentId\":"u8);
        JsonText.WriteString(output, id);
        output.Write(",\"CounterName\":"u8);
        JsonText.WriteString(output, name);
        output.Write(",\"TotalValue\":"u8);
    }
}

/// <summary>The parts of a batch's operation on a counter that are needed to write its result.</summary>
/// <param name="Kind">Kind of operation.</param>
/// <param name="Id">The document's id.</param>
/// <param name="Name">The counter's name.</param>
internal readonly record struct BatchedCounter(OperationKind Kind, string Id, string Name);
