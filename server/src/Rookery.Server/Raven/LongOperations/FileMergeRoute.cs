using System.Text.Json;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Databases;
using Rookery.Documents.Nodes;
using Rookery.Server.Access;

namespace Rookery.Server.Raven.LongOperations;

/// <summary>
/// POST admin/compact: merges the files of this node. All databases are in the same files, so those of one are merged
/// with those of all.
/// </summary>
internal sealed class FileMergeRoute(ServerContext context, OperationRegistry operations)
{
    private const int MaxBodyBytes = 64 << 10;

    private int _running;

    public async Task HandleAsync(HttpContext http)
    {
        string name;
        using (var body = await RequestBody.ReadAsync(http, MaxBodyBytes, context.LargeRequests, BodyUse.Objects))
        {
            name = ReadName(body.Span);
        }

        await RavenRoute.WithDatabase(context, http, name, BeginAsync);
    }

    private async Task BeginAsync(HttpContext http, Database database)
    {
        if (Interlocked.Exchange(ref _running, 1) != 0)
        {
            throw new RefusedException(
                StatusCodes.Status429TooManyRequests,
                RavenType.RavenException,
                "This node merges its files already. Wait for the end of that operation."
            );
        }

        var operation = operations.BeginNext(
            id => new FileMergeOperation(id, database.Name, BytesNow),
            Principal.Of(http)
        );
        if (!context.Background.TryBegin("Merge of all files", () => RunAsync(operation)))
        {
            Volatile.Write(ref _running, 0);
            operation.FailUnlessEnded();
            throw RefusedException.NodeStops();
        }

        await JsonResponse.SendAsync(
            http,
            json =>
            {
                json.WriteNumber("OperationId"u8, operation.Id);
                json.WriteString("OperationNodeTag"u8, context.Node.Consensus.NodeTag);
            }
        );
    }

    private async Task RunAsync(FileMergeOperation operation)
    {
        using var ending = CancellationTokenSource.CreateLinkedTokenSource(operation.Killed, context.Stopping);
        try
        {
            await context.Node.MergeFilesAsync(ending.Token);
            operation.Measure();
            operation.Complete();
        }
        catch (OperationCanceledException) when (operation.Killed.IsCancellationRequested)
        {
            operation.Cancel();
        }
        catch (Exception failure) when (failure is OperationCanceledException or IOException)
        {
            bool isStop = failure is not FileMergeException && context.Stopping.IsCancellationRequested;
            operation.Fail(
                isStop
                    ? RefusedException.NodeStops()
                    : new RefusedException(
                        StatusCodes.Status500InternalServerError,
                        RavenType.RavenException,
                        failure.Message
                    )
            );
        }
        finally
        {
            Volatile.Write(ref _running, 0);
            operation.FailUnlessEnded();
            operations.Announce(operation);
        }
    }

    private long BytesNow() => context.Node.ReadStatistics()?.Storage.Groups.Sum(static group => group.Bytes) ?? 0;

    private static string ReadName(ReadOnlySpan<byte> body)
    {
        string? name = null;
        bool ofDocuments = false;
        JsonBody.Read(
            body,
            (ref Utf8JsonReader json) =>
            {
                JsonBody.ForEachMember(
                    ref json,
                    (string member, ref Utf8JsonReader value) =>
                    {
                        switch (member)
                        {
                            case "DatabaseName":
                                name = JsonBody.ReadText(ref value, member);
                                break;
                            case "Documents" when value.TokenType is JsonTokenType.True or JsonTokenType.False:
                                ofDocuments = value.GetBoolean();
                                break;
                            case "Indexes" when value.TokenType == JsonTokenType.StartArray:
                                RefuseIndexes(JsonBody.ReadTexts(ref value, member));
                                break;
                            case "SkipOptimizeIndexes"
                                when value.TokenType is JsonTokenType.True or JsonTokenType.False:
                                break; // no index is optimized
                            default:
                                JsonBody.RequireNull(ref value, member, "admin/compact", "DatabaseName", "Documents");
                                break;
                        }
                    }
                );
                return true;
            }
        );
        return string.IsNullOrEmpty(name) || !ofDocuments
            ? throw RefusedException.BadRequest(
                "Name the database and what to merge: {\"DatabaseName\":\"name\",\"Documents\":true}."
            )
            : name;
    }

    private static void RefuseIndexes(List<string> indexes)
    {
        if (indexes.Count > 0)
        {
            throw RefusedException.NotSupported(
                "'Indexes' of admin/compact is not supported by this version: indexes merge their segments by "
                    + "themselves. Nothing was merged; send \"Documents\":true alone."
            );
        }
    }
}
