using System.Globalization;
using System.Text.Json;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Databases;
using Rookery.Documents.Schedules;

namespace Rookery.Server.Raven.Databases;

/// <summary>
/// expiration/config, refresh/config and data-archival/config: whether, how often and in what number documents expire,
/// are refreshed and are archived.
/// </summary>
/// <param name="context">The server.</param>
/// <param name="name">Expiration, Refresh or DataArchival of <see cref="ConfigurationName"/>.</param>
internal sealed class ScheduleConfigurationRoutes(ServerContext context, string name)
{
    /// <summary>GET: the configuration as it was set; 404 without one.</summary>
    public Task GetAsync(HttpContext http, Database database) =>
        ConfigurationProposal.AnswerAsync(http, database.Configurations.Find(name));

    /// <summary>POST: sets the configuration; null removes it.</summary>
    public async Task PostAsync(HttpContext http, Database database)
    {
        var text = await ConfigurationProposal.ReadAsync(context, http, Read);
        if (await ConfigurationProposal.TrySetAsync(context, http, database.Number, name, text) is { } outcome)
        {
            await JsonResponse.SendAsync(http, json => json.WriteNumber("RaftCommandIndex"u8, outcome.Index));
        }
    }

    /// <summary>Reads a configuration, and returns the text to store.</summary>
    /// <exception cref="RefusedException">It is not valid (400), or has an unknown member (501).</exception>
    public byte[] Read(ref Utf8JsonReader body)
    {
        if (body.TokenType == JsonTokenType.Null)
        {
            return [.. "null"u8];
        }

        string frequencyMember = ScheduleConfiguration.FrequencyMemberOf(name);
        string[] known = [ScheduleConfiguration.DisabledMember, frequencyMember, ScheduleConfiguration.MaxItemsMember];
        bool isDisabled = false;
        long? seconds = null;
        long? items = null;
        JsonBody.ForEachMember(
            ref body,
            (string member, ref Utf8JsonReader value) =>
            {
                if (member is ScheduleConfiguration.DisabledMember)
                {
                    isDisabled = value.TokenType switch
                    {
                        JsonTokenType.True => true,
                        JsonTokenType.False => false,
                        _ => throw RefusedException.BadRequest($"'{member}' must be true or false."),
                    };
                }
                else if (string.Equals(member, frequencyMember, StringComparison.Ordinal))
                {
                    seconds = ReadNumber(ref value, member, ScheduleConfiguration.MaxSeconds);
                }
                else if (member is ScheduleConfiguration.MaxItemsMember)
                {
                    items = ReadNumber(ref value, member, long.MaxValue);
                }
                else
                {
                    JsonBody.RequireNull(ref value, member, $"the configuration of {name}", known);
                }
            }
        );
        return ConfigurationProposal.ToJson(json =>
        {
            json.WriteBoolean(ScheduleConfiguration.DisabledMember, isDisabled);
            WriteNumber(json, frequencyMember, seconds);
            WriteNumber(json, ScheduleConfiguration.MaxItemsMember, items);
        });
    }

    private static long? ReadNumber(ref Utf8JsonReader value, string member, long highest) =>
        value.TokenType == JsonTokenType.Null ? null
        : value.TokenType == JsonTokenType.Number
        && value.TryGetInt64(out long number)
        && number > 0
        && number <= highest
            ? number
        : throw RefusedException.BadRequest(
            string.Create(
                CultureInfo.InvariantCulture,
                $"'{member}' must be a whole number from 1 to {highest}, or null. Nothing was changed."
            )
        );

    private static void WriteNumber(Utf8JsonWriter json, string member, long? number)
    {
        if (number is { } value)
        {
            json.WriteNumber(member, value);
        }
        else
        {
            json.WriteNull(member);
        }
    }
}
