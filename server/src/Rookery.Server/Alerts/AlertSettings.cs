using System.Globalization;
using System.Text.Json;
using Rookery.Documents.Databases;
using Rookery.Server.Configuration;
using Rookery.Server.Raven;
using Rookery.Server.Raven.Databases;

namespace Rookery.Server.Alerts;

/// <summary>
/// Where the whole cluster sends alerts, and when it is quiet: a configuration of the server that all members have. A
/// webhook in the file of a node takes precedence there.
/// </summary>
/// <param name="Url">The URL of the webhook, of which all but its place may be secret; null for none.</param>
/// <param name="Form">"json" or "ntfy"; null for "json".</param>
/// <param name="QuietFrom">Begin of the quiet hours, as the minute of the day in UTC; null for none.</param>
/// <param name="QuietUntil">End of the quiet hours; null for none.</param>
internal sealed record AlertSettings(string? Url, string? Form, int? QuietFrom, int? QuietUntil)
{
    private const string Container = "the settings of alerts";
    private const int MaxUrlLength = 2048;

    private static readonly string[] Members = ["Form", "QuietFrom", "QuietUntil", "Url"];

    /// <summary>No webhook and no quiet hours.</summary>
    public static AlertSettings None { get; } = new(null, null, null, null);

    /// <summary>The validated webhook; null without a URL.</summary>
    public WebhookConfiguration? Webhook =>
        Url is null ? null : new WebhookSettings(Url, Form, TokenFile: null).Check();

    /// <summary>Returns the stored settings.</summary>
    /// <exception cref="RefusedException">This version cannot read them, because a newer one stored them (501).
    /// </exception>
    public static AlertSettings Of(DatabaseConfiguration stored)
    {
        try
        {
            return stored.IsSet
                ? JsonBody.Read(stored.Json.Span, static (ref Utf8JsonReader json) => Read(ref json, static () => None))
                : None;
        }
        catch (RefusedException unknown)
        {
            throw RefusedException.NotSupported(
                "The stored settings of alerts are of a version that this node does not have, so it sends nothing by "
                    + $"them: {unknown.Message} Update this node, or set the URL anew."
            );
        }
    }

    /// <summary>Reads settings from a body. Those without a URL keep the URL and the form of the stored ones.</summary>
    /// <param name="body">The body.</param>
    /// <param name="readStored">Returns the stored settings; called only without a URL.</param>
    /// <exception cref="RefusedException">A member is unknown (501) or invalid (400).</exception>
    public static AlertSettings Read(ref Utf8JsonReader body, Func<AlertSettings> readStored)
    {
        string? url = null;
        string? form = null;
        int? from = null;
        int? until = null;
        JsonBody.ForEachMember(
            ref body,
            (string member, ref Utf8JsonReader value) =>
            {
                string? text = Array.IndexOf(Members, member) < 0 ? null : JsonBody.ReadText(ref value, member);
                switch (member)
                {
                    case "Url":
                        url = text;
                        break;
                    case "Form":
                        form = text;
                        break;
                    case "QuietFrom":
                        from = ReadMinute(text, member);
                        break;
                    case "QuietUntil":
                        until = ReadMinute(text, member);
                        break;
                    default:
                        throw JsonBody.NotSupported(member, Container, Members);
                }
            }
        );
        if ((from is null) != (until is null) || (from is not null && from == until))
        {
            throw RefusedException.BadRequest(
                "'QuietFrom' and 'QuietUntil' must be two different times of the day, or both be left out."
            );
        }

        if (url is null && form is not null)
        {
            throw RefusedException.BadRequest("'Form' is that of a 'Url'. Send both, or leave both out to keep them.");
        }

        var sent = url is null ? readStored() : new AlertSettings(url, form, null, null);
        var settings = sent with { QuietFrom = from, QuietUntil = until };
        if (settings.Url?.Length > MaxUrlLength)
        {
            throw RefusedException.BadRequest(
                string.Create(CultureInfo.InvariantCulture, $"'Url' must have at most {MaxUrlLength} characters.")
            );
        }

        try
        {
            _ = settings.Webhook;
        }
        catch (ConfigurationException wrong)
        {
            // The message names the settings as they are in a file.
            string sentence = wrong
                .Message.Replace("\"webhook.url\"", "'Url'", StringComparison.Ordinal)
                .Replace("\"webhook.form\"", "'Form'", StringComparison.Ordinal);
            throw RefusedException.BadRequest(sentence);
        }

        return settings;
    }

    /// <summary>Returns the text to store.</summary>
    public byte[] ToJson() =>
        ConfigurationProposal.ToJson(json =>
        {
            json.WriteString("Url"u8, Url);
            json.WriteString("Form"u8, Form);
            WriteQuiet(json);
        });

    /// <summary>Writes the quiet hours; null for none.</summary>
    public void WriteQuiet(Utf8JsonWriter json)
    {
        json.WriteString("QuietFrom"u8, TextOf(QuietFrom));
        json.WriteString("QuietUntil"u8, TextOf(QuietUntil));
    }

    /// <summary>
    /// Returns when the quiet hours began that a time is within; null outside of them. They may include midnight.
    /// </summary>
    public DateTimeOffset? QuietSince(DateTimeOffset now)
    {
        if (QuietFrom is not { } from || QuietUntil is not { } until)
        {
            return null;
        }

        const int MinutesOfDay = 24 * 60;
        var utc = now.ToUniversalTime();
        int minute = (int)utc.TimeOfDay.TotalMinutes;
        int since = (minute - from + MinutesOfDay) % MinutesOfDay;
        int length = (until - from + MinutesOfDay) % MinutesOfDay;
        return since < length ? utc.AddTicks(-(utc.Ticks % TimeSpan.TicksPerMinute)).AddMinutes(-since) : null;
    }

    private static int? ReadMinute(string? text, string member) =>
        text is null ? null
        : TimeOnly.TryParseExact(text, "HH:mm", CultureInfo.InvariantCulture, DateTimeStyles.None, out var time)
            ? (time.Hour * 60) + time.Minute
        : throw RefusedException.BadRequest($"'{member}' must be a time of the day in UTC, as \"21:30\".");

    private static string? TextOf(int? minute) =>
        minute is { } value ? string.Create(CultureInfo.InvariantCulture, $"{value / 60:00}:{value % 60:00}") : null;
}
