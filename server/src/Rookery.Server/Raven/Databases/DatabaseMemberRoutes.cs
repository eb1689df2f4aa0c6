using System.Text.Json;
using Microsoft.AspNetCore.Http;

namespace Rookery.Server.Raven.Databases;

/// <summary>
/// admin/databases/node, promote and reorder: which members hold a database. Every member holds every database, so
/// these are answered as RavenDB answers them for such a database, and nothing changes.
/// </summary>
/// <param name="context">The node.</param>
/// <param name="databases">Answers with the members of a database.</param>
internal sealed class DatabaseMemberRoutes(ServerContext context, DatabaseRoutes databases)
{
    private const int BodyBytes = 64 << 10;

    /// <summary>PUT admin/databases/node?name=…: there is no member to add.</summary>
    public Task AddAsync(HttpContext http) =>
        OnDatabaseAsync(
            http,
            (_, database) =>
                throw RefusedException.BadRequest(
                    $"Database '{database.Name}' already exists on all the nodes of the cluster: each member holds "
                        + "every database. A new member receives it when it joins (`rookery cluster join`)."
                )
        );

    /// <summary>POST admin/databases/promote?name=…&amp;node=…: a member that votes needs no promotion.</summary>
    public Task PromoteAsync(HttpContext http) =>
        OnDatabaseAsync(
            http,
            (request, database) =>
            {
                string tag = new QueryParameters(request).RequiredText("node");
                var member = context.Node.Consensus.View.Members.FirstOrDefault(each =>
                    string.Equals(each.Tag, tag, StringComparison.OrdinalIgnoreCase)
                );
                return member is null ? throw RefusedException.BadRequest($"The cluster has no node '{tag}'.")
                    : member.IsVoter ? databases.AnswerRecordAsync(request, database.Name, database.RecordEtag)
                    : throw RefusedException.NotSupported(
                        $"Node '{tag}' does not vote yet, for any database. Run `rookery cluster node promote {tag}`."
                    );
            }
        );

    /// <summary>
    /// POST admin/databases/reorder?name=… with {"MembersOrder":[…]}: accepts the order that the record has.
    /// </summary>
    public async Task ReorderAsync(HttpContext http)
    {
        List<string> order = [];
        using (var body = await RequestBody.ReadAsync(http, BodyBytes, context.LargeRequests, BodyUse.Objects))
        {
            JsonBody.Read(
                body.Span,
                (ref Utf8JsonReader json) =>
                {
                    JsonBody.ForEachMember(
                        ref json,
                        (string name, ref Utf8JsonReader value) =>
                        {
                            if (name is "MembersOrder")
                            {
                                order = JsonBody.ReadTexts(ref value, name);
                            }
                            else if (name is not "Fixed" || value.TokenType != JsonTokenType.False)
                            {
                                JsonBody.RequireNull(ref value, name, "the order of members", "MembersOrder", "Fixed");
                            }
                        }
                    );
                    return true;
                }
            );
        }

        await OnDatabaseAsync(
            http,
            (request, database) =>
            {
                var members = context.Node.Consensus.View.Members.Where(static member => member.IsVoter);
                var tags = members.Select(static member => member.Tag).ToList();
                if (
                    !tags.Order(StringComparer.Ordinal)
                        .SequenceEqual(order.Order(StringComparer.Ordinal), StringComparer.Ordinal)
                )
                {
                    throw RefusedException.BadRequest(
                        $"MembersOrder must name the members of database '{database.Name}', each once: "
                            + $"{string.Join(", ", tags)}."
                    );
                }

                return tags.SequenceEqual(order, StringComparer.Ordinal)
                    ? EmptyResponse.AnswerNoContent(request)
                    : throw RefusedException.NotSupported(
                        "The order of members cannot be chosen: clients learn of the leader, whatever the order is."
                    );
            }
        );
    }

    private async Task OnDatabaseAsync(HttpContext http, DatabaseHandler answer)
    {
        string name = new QueryParameters(http).RequiredText("name");
        if (await RavenRoute.TryPassBarrierAsync(context, http))
        {
            await RavenRoute.WithDatabase(context, http, name, answer, RavenErrors.WriteDatabaseMissingAsync);
        }
    }
}
