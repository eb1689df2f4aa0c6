using System.Text;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Documents.Ids;

namespace Rookery.Server.Raven.Documents;

/// <summary>
/// identity/next, identity/seed and debug/identities: consecutive numbers that the server assigns ("users|").
/// </summary>
internal sealed class IdentityRoutes(ServerContext context)
{
    private const int NameBytes = 256;
    internal const long MaxValue = 1L << 53; // JavaScript represents integers exactly up to here

    public async Task NextAsync(HttpContext http, Database database)
    {
        byte[] name = ReadName(new QueryParameters(http));
        var outcome = await HttpProposal.ProposeAsync(
            context,
            http,
            CommandEncoder.IdentityNext(database.Number, name, IdempotencyHeader.ReadOrRequestId(http))
        );
        await AnswerAsync(http, database, outcome, "NewIdentityValue");
    }

    public async Task SeedAsync(HttpContext http, Database database)
    {
        var parameters = new QueryParameters(http);
        byte[] name = ReadName(parameters);
        long value = parameters.Number("value", defaultValue: -1);
        if (value is < 0 or > MaxValue)
        {
            throw RefusedException.BadRequest(
                $"The parameter 'value' must be the identity's last value: a whole number from 0 to {MaxValue}."
            );
        }

        var outcome = await HttpProposal.ProposeAsync(
            context,
            http,
            CommandEncoder.IdentitySeed(
                database.Number,
                name,
                value,
                parameters.Flag("force"),
                IdempotencyHeader.ReadOrRequestId(http)
            )
        );
        await AnswerAsync(http, database, outcome, "NewSeedValue");
    }

    public Task ListAsync(HttpContext http, Database database) =>
        ListedMembers.SendAsync<IdentityValue>(
            context,
            http,
            database,
            static (_, _) => { },
            static (reader, last) => reader.ReadIdentities(last),
            static (json, identity) => json.WriteNumber(identity.Name, identity.Value)
        );

    private static async Task AnswerAsync(HttpContext http, Database database, CommandOutcome outcome, string member)
    {
        if (outcome.Rejection is { } rejection)
        {
            await RavenErrors.WriteAsync(http, rejection, IdempotencyHeader.ReadOrRequestId(http).IsPresent);
            return;
        }

        IdempotencyHeader.WriteHorizon(http, database);
        await JsonResponse.SendAsync(http, json => json.WriteNumber(member, outcome[0].Low));
    }

    private static byte[] ReadName(QueryParameters parameters) => CheckName(parameters.RequiredText("name"));

    /// <summary>
    /// Checks and lower-cases the name of an identity: ids are compared in lower case, so "Users|" and "users|" share a
    /// counter.
    /// </summary>
    /// <exception cref="RefusedException">The name is not valid: 400.</exception>
    internal static byte[] CheckName(string name)
    {
        name = name.EndsWith('|') ? name : name + "|";
        Span<byte> lower = stackalloc byte[2 * NameBytes];
        return name.Length > 1 && Encoding.UTF8.GetByteCount(name) <= NameBytes && !name.Any(char.IsControl)
            ? lower[..DocumentId.ToLower(Encoding.UTF8.GetBytes(name), lower)].ToArray()
            : throw RefusedException.BadRequest(
                $"'name' must be an identity like 'users|', at most {NameBytes} bytes of UTF-8 without "
                    + $"control characters."
            );
    }
}
