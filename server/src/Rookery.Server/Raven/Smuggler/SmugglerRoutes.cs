using Microsoft.AspNetCore.Http;
using Rookery.Documents.Databases;
using Rookery.Server.Access;
using Rookery.Server.Raven.LongOperations;

namespace Rookery.Server.Raven.Smuggler;

/// <summary>
/// POST smuggler/export and smuggler/import: dumps of RavenDB (.ravendbdump), as long operations, each of which
/// ends with its request.
/// </summary>
internal sealed class SmugglerRoutes(ServerContext context, OperationRegistry operations)
{
    private const int OptionsBytes = 64 << 10;

    public async Task ExportAsync(HttpContext http, Database database)
    {
        SmugglerOptions options;
        using (var body = await RequestBody.ReadAsync(http, OptionsBytes, context.LargeRequests, BodyUse.Objects))
        {
            options = SmugglerOptions.Read(body.Span);
        }

        await RunAsync(
            http,
            database,
            operation => new DumpExport(context, http, database, options, operation).RunAsync()
        );
    }

    public Task ImportAsync(HttpContext http, Database database) =>
        RunAsync(
            http,
            database,
            async operation =>
            {
                await using var import = new DumpImport(context, http, database, operation, operations);
                await import.RunAsync();
                await JsonResponse.SendAsync(http, operation.WriteResult);
            }
        );

    private async Task RunAsync(HttpContext http, Database database, Func<SmugglerOperation, Task> run)
    {
        var principal = Principal.Of(http);
        var operation = new QueryParameters(http).Number("operationId", defaultValue: 0) is > 0 and var requested
            ? operations.Begin(new SmugglerOperation(database.Number, requested), principal)
            : operations.BeginNext(id => new SmugglerOperation(database.Number, id), principal);
        try
        {
            await run(operation);
            operation.Complete();
        }
        catch (Exception failure) when (RavenErrors.AsOwnFailure(failure) is { } refused)
        {
            operation.Fail(refused);
            throw http.Response.HasStarted ? failure : refused; // the former ends the connection
        }
        catch (OperationCanceledException) when (operation.Killed.IsCancellationRequested)
        {
            operation.Cancel();
            http.Abort();
        }
        catch (OperationCanceledException) when (context.Stopping.IsCancellationRequested)
        {
            operation.Fail(RefusedException.NodeStops());
            throw;
        }
        catch (Exception failure) when (failure is OperationCanceledException or IOException or InvalidDataException)
        {
            var refused =
                failure is OperationCanceledException && !http.RequestAborted.IsCancellationRequested
                    ? LargeRequests.TooSlow(http)
                    : RefusedException.BadRequest(
                        $"The transfer broke off: {failure.Message} {operation.Documents.Done} documents are done. An "
                            + "import keeps what it has stored; repeat it whole, which replaces them."
                    );
            operation.Fail(refused);
            throw http.Response.HasStarted ? failure : refused;
        }
        finally
        {
            operation.FailUnlessEnded();
            operations.Announce(operation);
        }
    }
}
