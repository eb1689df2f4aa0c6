using System.Text;
using System.Text.Json;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Platform;
using Rookery.Server.Raven.Documents;

namespace Rookery.Server.Raven.Batches;

/// <summary>The parts of one batch operation that are needed to write its result.</summary>
/// <param name="Kind">Kind of operation.</param>
/// <param name="Id">The id in the request.</param>
/// <param name="IsJsonPatch">Whether a patch is a JSON Patch.</param>
/// <param name="MayBeRepeated">Whether applying the operation twice in a row has the same effect as once.</param>
internal readonly record struct BatchOperation(OperationKind Kind, string Id, bool IsJsonPatch, bool MayBeRepeated)
{
    /// <summary>Returns the operations of a batch, in order.</summary>
    public static BatchOperation[] ReadAll(in ParsedBatch batch)
    {
        var operations = new BatchOperation[batch.Count];
        var reader = new CommandReader(batch.Command.Written.Span);
        for (int i = 0; i < operations.Length; i++)
        {
            operations[i] = Read(ref reader);
            operations[i] = operations[i] with { MayBeRepeated = operations[i].MayBeRepeated && !batch.IsClusterWide };
        }

        return operations;
    }

    /// <summary>Whether applying a batch without a key twice in a row has the same effect as once.</summary>
    public static bool MayAllBeRepeated(BatchOperation[] operations) =>
        Array.TrueForAll(operations, static operation => operation.MayBeRepeated);

    /// <summary>Writes the operation's element of "Results".</summary>
    public void WriteResult(Utf8JsonWriter json, Database database, in OperationResult result)
    {
        json.WriteStartObject();
        switch (Kind)
        {
            case OperationKind.Put:
                json.WriteString("Type"u8, "PUT"u8);
                json.WriteString("@id"u8, result.Id ?? Id);
                json.WriteString("@collection"u8, DocumentJson.CollectionName(result.Collection));
                json.WriteString("@change-vector"u8, database.ChangeVectorOf(result.Etag));
                json.WriteString("@last-modified"u8, DocumentJson.Date(result.LastModifiedTicks));
                break;
            case OperationKind.Delete:
                json.WriteString("Type"u8, "DELETE"u8);
                json.WriteString("Id"u8, Id);
                json.WriteBoolean("Deleted"u8, result.Status == OperationStatus.Deleted);
                json.WriteNull("ChangeVector"u8);
                break;
            case OperationKind.CompareExchangePut or OperationKind.CompareExchangeDelete:
                json.WriteString(
                    "Type"u8,
                    Kind == OperationKind.CompareExchangePut ? "CompareExchangePUT"u8 : "CompareExchangeDELETE"u8
                );
                json.WriteString("Key"u8, Id);
                json.WriteNumber("Index"u8, result.Etag);
                break;
            default:
                json.WriteString("Type"u8, IsJsonPatch ? "JsonPatch"u8 : "PATCH"u8);
                json.WriteString("Id"u8, result.Id ?? Id);
                json.WriteString("PatchStatus"u8, PatchResult.StatusName(result.Status));
                PatchResult.WriteMembers(json, result, database);
                break;
        }

        json.WriteEndObject();
    }

    private static BatchOperation Read(ref CommandReader reader)
    {
        Invariant.Holds(reader.TryReadOperation(out var operation), "a batch has as many operations as it counts");
        string id = Encoding.UTF8.GetString(operation.Id.Written);
        return new BatchOperation(
            operation.Kind,
            id,
            operation.Kind == OperationKind.Patch && operation.Patch.IsJsonPatch,
            RepeatableWrite.IsOperation(operation.Kind, id, operation.Expected)
        );
    }
}
