using System.Buffers;
using System.Globalization;
using System.Text.Json;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Server.Access;
using Rookery.Server.Raven.Cluster;
using Rookery.Server.Raven.Indexes;
using Rookery.Server.Raven.Revisions;
using OperationStatus = Rookery.Documents.Consensus.OperationStatus;

namespace Rookery.Server.Raven.Databases;

/// <summary>admin/databases and databases: creates, deletes, describes and lists databases.</summary>
internal sealed class DatabaseRoutes(ServerContext context)
{
    private const int BodyBytes = 1 << 20;

    /// <summary>Members of a record that are configurations, with the names of these.</summary>
    public static readonly (string Member, string Name)[] RecordMembers =
    [
        ("Client", ConfigurationName.Client),
        ("DataArchival", ConfigurationName.DataArchival),
        ("Expiration", ConfigurationName.Expiration),
        ("Refresh", ConfigurationName.Refresh),
    ];

    /// <summary>
    /// PUT admin/databases?name=…: creates a database on all members, whatever replication factor is requested. With
    /// the etag of a record, it updates the record instead.
    /// </summary>
    public async Task CreateAsync(HttpContext http)
    {
        IdempotencyHeader.Refuse(http, "admin/databases", "a repetition is answered with 409");
        string? name = new QueryParameters(http).Text("name");
        long replicas = new QueryParameters(http).Number("replicationFactor", defaultValue: 1);
        Database? updated;
        bool? isDisabled;
        using (var body = await RequestBody.ReadAsync(http, BodyBytes, context.LargeRequests, BodyUse.Objects))
        {
            name = DatabaseRecordBody.ReadName(body.Span, name);
            updated = await FindUpdatedAsync(http, name);
            if (updated is null)
            {
                await RequireNewAsync(name);
            }

            using var indexes = updated is null ? null : IndexesOf(http, updated);
            using var configurations = updated is null ? null : ConfigurationsOf(updated);
            isDisabled = DatabaseRecordBody.RequireSupported(
                body.Span,
                indexes?.RootElement,
                configurations?.RootElement
            );
        }

        if (DatabaseName.Problem(name) is { } problem)
        {
            throw RefusedException.BadRequest(problem);
        }

        int members = context.Node.Consensus.View.Members.Count;
        if (replicas > members)
        {
            throw RefusedException.BadRequest(
                $"replicationFactor={replicas} is more than the number of nodes of this cluster, {members}. The "
                    + $"database was not created."
            );
        }

        if (updated is not null)
        {
            // The body asks for what the record has already, apart from its state, because anything else was refused.
            if (
                isDisabled is { } disables
                && disables != updated.Configurations.IsDisabled
                && await ConfigurationProposal.TrySetAsync(
                    context,
                    http,
                    updated.Number,
                    ConfigurationName.Disabled,
                    disables ? [.. "true"u8] : [.. "false"u8],
                    updated.Configurations.Find(ConfigurationName.Disabled).Etag
                )
                    is null
            )
            {
                return;
            }

            await AnswerRecordAsync(http, updated.Name, context.Node.Consensus.AppliedIndex);
            return;
        }

        var outcome = await HttpProposal.ProposeAsync(
            context,
            http,
            CommandEncoder.CreateDatabase(name!, HistoryId.Create())
        );
        if (outcome.Rejection is { } rejection)
        {
            await RavenErrors.WriteAsync(http, rejection);
            return;
        }

        await AnswerRecordAsync(http, name!, outcome.Index);
    }

    /// <summary>
    /// Refuses to create a database that exists, before its record is read: clients may send a record with members that
    /// no new database can have.
    /// </summary>
    /// <exception cref="RefusedException">The database exists (409).</exception>
    private async ValueTask RequireNewAsync(string? name)
    {
        if (
            !string.IsNullOrEmpty(name)
            && context.Node.Databases.TryGet(name, out _)
            && await context.Node.Consensus.ReadBarrierAsync()
            && context.Node.Databases.TryGet(name, out var existing)
        )
        {
            throw RavenErrors.Refuse(
                new Rejection(RejectionKind.DatabaseExists, $"A database named {existing.Name} exists.")
            );
        }
    }

    /// <summary>Answers 201 with the members that hold a database.</summary>
    public Task AnswerRecordAsync(HttpContext http, string name, long index) =>
        JsonResponse.SendAsync(
            http,
            json =>
            {
                json.WriteNumber("RaftCommandIndex"u8, index);
                json.WriteString("Name"u8, name);
                WriteTopology(json);
                json.WriteStartArray("NodesAddedTo"u8);
                WriteUrls(json, http);
                json.WriteEndArray();
                json.WriteBoolean("ShardsDefined"u8, false);
            },
            StatusCodes.Status201Created
        );

    /// <summary>
    /// Returns the database whose record is updated; null if the request has no etag and creates a database. Clients
    /// send words such as "undefined" for a missing etag.
    /// </summary>
    /// <exception cref="RefusedException">The database does not exist (400), or its record has another etag
    /// (409).</exception>
    private async ValueTask<Database?> FindUpdatedAsync(HttpContext http, string? name)
    {
        if (
            !long.TryParse(
                http.Request.Headers.ETag.ToString().Trim('"'),
                NumberStyles.None,
                CultureInfo.InvariantCulture,
                out long etag
            )
            || etag == 0
        )
        {
            return null;
        }

        // A lagging follower may not know the database yet.
        if (!await context.Node.Consensus.ReadBarrierAsync())
        {
            throw RavenErrors.Refuse(RavenRoute.NoBarrierRejection(context));
        }

        if (string.IsNullOrEmpty(name))
        {
            throw RefusedException.BadRequest(
                "Neither the query string nor the record names the database. Send the parameter 'name' or the member "
                    + "'DatabaseName'."
            );
        }

        if (!context.Node.Databases.TryGet(name, out var database))
        {
            throw RefusedException.BadRequest(
                $"There is no database '{name}' whose record could be updated. Create it without the header ETag."
            );
        }

        return etag == database.RecordEtag
            ? database
            : throw new RefusedException(
                StatusCodes.Status409Conflict,
                RavenType.Concurrency,
                $"The record of database '{database.Name}' has the etag {database.RecordEtag}, and not {etag}. "
                    + "Nothing was changed; read the record again."
            );
    }

    /// <summary>
    /// Returns the part of a record that <see cref="GetAsync"/> answers to the caller about indexes and revisions.
    /// </summary>
    private JsonDocument IndexesOf(HttpContext http, Database database)
    {
        var record = new ArrayBufferWriter<byte>();
        using (var json = new Utf8JsonWriter(record))
        {
            json.WriteStartObject();
            WriteIndexes(json, http, database);
            json.WriteEndObject();
        }

        return JsonDocument.Parse(record.WrittenMemory);
    }

    /// <summary>Returns the part of a record that <see cref="GetAsync"/> answers about configurations.</summary>
    private static JsonDocument ConfigurationsOf(Database database) =>
        JsonDocument.Parse(ConfigurationProposal.ToJson(json => WriteConfigurations(json, database, mayRead: true)));

    /// <summary>DELETE admin/databases with {"DatabaseNames":[…]}. Databases that do not exist are ignored.</summary>
    public async Task DeleteAsync(HttpContext http)
    {
        IdempotencyHeader.Refuse(http, "admin/databases", "a repetition finds the databases gone already");
        List<string> names;
        using (var body = await RequestBody.ReadAsync(http, BodyBytes, context.LargeRequests, BodyUse.Objects))
        {
            names = ReadNames(body.Span);
        }

        if (names.Count == 0)
        {
            throw RefusedException.BadRequest(
                "The body must name the databases to delete: {\"DatabaseNames\":[\"name\"],\"HardDelete\":true}."
            );
        }

        if (names.Find(name => DatabaseName.Problem(name) is not null) is { } bad)
        {
            throw RefusedException.BadRequest($"'{bad}' cannot be a database: {DatabaseName.Problem(bad)}");
        }

        var outcome = await HttpProposal.ProposeAsync(context, http, CommandEncoder.DeleteDatabases(names));
        if (outcome.Rejection is { } rejection)
        {
            await RavenErrors.WriteAsync(http, rejection);
            return;
        }

        await JsonResponse.SendAsync(
            http,
            json =>
            {
                // As in RavenDB, -1 if nothing was deleted.
                bool isDeleted = Enumerable
                    .Range(0, names.Count)
                    .Any(i => outcome[i].Status == OperationStatus.Deleted);
                json.WriteNumber("RaftCommandIndex"u8, isDeleted ? outcome.Index : -1);
                json.WriteStartArray("PendingDeletes"u8);
                json.WriteEndArray();
            }
        );
    }

    /// <summary>GET admin/databases?name=…: the record of one database, or 404.</summary>
    public async Task GetAsync(HttpContext http)
    {
        string name = new QueryParameters(http).RequiredText("name");
        if (await RavenRoute.TryPassBarrierAsync(context, http))
        {
            await RavenRoute.WithDatabase(
                context,
                http,
                name,
                WriteRecordAsync,
                static (missing, _) => EmptyResponse.AnswerNotFound(missing)
            );
        }
    }

    /// <summary>GET admin/record of a database: its record.</summary>
    public Task RecordAsync(HttpContext http, Database database) => WriteRecordAsync(http, database);

    private Task WriteRecordAsync(HttpContext http, Database database) =>
        JsonResponse.SendAsync(
            http,
            json =>
            {
                json.WriteString("DatabaseName"u8, database.Name);
                json.WriteNumber("Etag"u8, database.RecordEtag);
                json.WriteString("DatabaseState"u8, "Normal"u8);
                WriteConfigurations(json, database, ReadRight.IsHeld(http, database));
                WriteIndexes(json, http, database);
                WriteTopology(json);
            }
        );

    /// <summary>Writes the members of a record that are configurations; most of them only for readers.</summary>
    private static void WriteConfigurations(Utf8JsonWriter json, Database database, bool mayRead)
    {
        json.WriteBoolean("Disabled"u8, database.Configurations.IsDisabled);
        json.WriteString("LockMode"u8, database.Configurations.LockMode.ToString());
        if (!mayRead)
        {
            return;
        }

        DatabaseSettingRoutes.Write(json, database);
        foreach (var (member, name) in RecordMembers)
        {
            if (database.Configurations.Find(name) is { IsSet: true } configuration)
            {
                json.WritePropertyName(member);
                json.WriteRawValue(configuration.Json.Span, skipInputValidation: true);
            }
        }
    }

    /// <summary>
    /// Writes the index definitions by name and the configuration of revisions, for callers that may read the database.
    /// </summary>
    private void WriteIndexes(Utf8JsonWriter json, HttpContext http, Database database)
    {
        if (!Principal.Of(http).HasScope(AccessScopes.Read, database.Name))
        {
            return;
        }

        var defined = ShownIndex
            .All(context.Indexes, database)
            .Where(static index => !index.IsReplacement)
            .ToLookup(static index => index.IsAutomatic);
        foreach (bool isAutomatic in (ReadOnlySpan<bool>)[false, true])
        {
            json.WriteStartObject(isAutomatic ? "AutoIndexes"u8 : "Indexes"u8);
            foreach (var index in defined[isAutomatic])
            {
                json.WritePropertyName(index.Name);
                if (isAutomatic)
                {
                    AutoIndexRecordJson.Write(json, index);
                }
                else
                {
                    IndexDefinitionJson.Write(json, index);
                }
            }

            json.WriteEndObject();
        }

        using var reader = database.OpenReader();
        if (reader.ReadRevisionsConfiguration() is { IsEmpty: false } revisions)
        {
            json.WriteStartObject("Revisions"u8);
            RevisionsConfigurationJson.Write(json, revisions);
            json.WriteEndObject();
        }
    }

    /// <summary>GET databases: all databases that the caller may see, by name.</summary>
    public async Task ListAsync(HttpContext http)
    {
        if (!await RavenRoute.TryPassBarrierAsync(context, http))
        {
            return;
        }

        var parameters = new QueryParameters(http);
        bool namesOnly = parameters.Flag("namesOnly");
        int start = (int)Math.Min(parameters.Number("start", defaultValue: 0), int.MaxValue);
        int pageSize = (int)Math.Min(parameters.Number("pageSize", int.MaxValue), int.MaxValue);
        string? only = parameters.Text("name");
        var caller = Principal.Of(http);
        var databases = context
            .Node.Databases.All.Where(database =>
                (only is null || DatabaseName.AreEqual(database.Name, only)) && caller.CanSee(database.Name)
            )
            .Skip(start)
            .Take(pageSize);
        await JsonResponse.SendAsync(
            http,
            json =>
            {
                json.WriteStartArray("Databases"u8);
                foreach (var database in databases)
                {
                    WriteEntry(json, database, namesOnly, ReadRight.IsHeld(http, database));
                }

                json.WriteEndArray();
            }
        );
    }

    private static void WriteEntry(Utf8JsonWriter json, Database database, bool namesOnly, bool mayRead)
    {
        if (namesOnly)
        {
            json.WriteStringValue(database.Name);
            return;
        }

        try
        {
            using var reader = database.OpenReader();
            var (documents, indexes) = (reader.ReadStatistics().Documents, reader.ReadIndexCounts().Count);
            json.WriteStartObject();
            json.WriteString("Name"u8, database.Name);
            json.WriteBoolean("Disabled"u8, database.Configurations.IsDisabled);
            json.WriteString("LockMode"u8, database.Configurations.LockMode.ToString());
            if (mayRead)
            {
                json.WriteNumber("DocumentsCount"u8, documents);
                json.WriteNumber("IndexesCount"u8, indexes);
            }

            json.WriteEndObject();
        }
        catch (DatabaseGoneException)
        {
            // The database was deleted while the list was written.
        }
    }

    private void WriteTopology(Utf8JsonWriter json)
    {
        json.WriteStartObject("Topology"u8);
        json.WriteStartArray("Members"u8);
        var members = context.Node.Consensus.View.Members;
        WriteTags(json, members.Where(static member => member.IsVoter));
        json.WriteEndArray();
        json.WriteStartArray("Promotables"u8);
        WriteTags(json, members.Where(static member => !member.IsVoter));
        json.WriteEndArray();
        json.WriteStartArray("Rehabs"u8);
        json.WriteEndArray();
        json.WriteNumber("ReplicationFactor"u8, members.Count);
        json.WriteEndObject();
    }

    private void WriteUrls(Utf8JsonWriter json, HttpContext http)
    {
        var members = context.Node.Consensus.View.Members;
        var urls = new NodeUrl(http, members);
        foreach (string url in members.Select(urls.Of).OfType<string>())
        {
            json.WriteStringValue(url);
        }
    }

    private static void WriteTags(Utf8JsonWriter json, IEnumerable<ClusterViewMember> members)
    {
        foreach (var member in members)
        {
            json.WriteStringValue(member.Tag);
        }
    }

    private static List<string> ReadNames(ReadOnlySpan<byte> body) =>
        JsonBody.Read(
            body,
            static (ref Utf8JsonReader json) =>
            {
                var names = new List<string>();
                JsonBody.ForEachMember(
                    ref json,
                    (string member, ref Utf8JsonReader value) =>
                    {
                        switch (member)
                        {
                            case "DatabaseNames":
                                names = JsonBody.ReadTexts(ref value, member);
                                break;
                            // The Node client omits HardDelete by default, and still expects a deletion. An explicit
                            // false asks to keep the files.
                            case "HardDelete" when value.TokenType == JsonTokenType.False:
                                throw RefusedException.NotSupported(
                                    "\"HardDelete\":false is not supported by this version: a database is "
                                        + "always deleted with its files. Nothing was deleted; send true, or leave it "
                                        + "out."
                                );
                            case "HardDelete" when value.TokenType is not (JsonTokenType.True or JsonTokenType.Null):
                                throw RefusedException.BadRequest("'HardDelete' must be true.");
                            // A deletion is one command that all members apply; there is no confirmation of each member
                            // to wait for.
                            case "HardDelete" or "TimeToWaitForConfirmation":
                                break;
                            case "FromNodes" when value.TokenType == JsonTokenType.StartArray:
                                RequireAllNodes(JsonBody.ReadTexts(ref value, member));
                                break;
                            default:
                                JsonBody.RequireNull(ref value, member, "the body of DELETE admin/databases");
                                break;
                        }
                    }
                );
                return names;
            }
        );

    private static void RequireAllNodes(List<string> nodes)
    {
        if (nodes.Count > 0)
        {
            throw RefusedException.NotSupported(
                "'FromNodes' is not supported by this version: a database is deleted from all nodes. Nothing "
                    + "was deleted."
            );
        }
    }
}
