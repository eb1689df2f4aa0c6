using System.Text.Json;

namespace Rookery.Server.Raven.Changes;

/// <summary>
/// A command that a client sends on the changes WebSocket: {"CommandId":1,"Command":"watch-doc","Param":"users/1"} or
/// with "Params":["users/1","likes"].
/// </summary>
/// <param name="Id">Number that the confirmation repeats.</param>
/// <param name="Name">Name of the command.</param>
/// <param name="Parameter">What to watch; null if the command has no parameter.</param>
internal readonly record struct ChangesCommand(long Id, string Name, string? Parameter)
{
    /// <summary>The second of two parameters: the name of a counter; null if there is none.</summary>
    public string? SecondParameter { get; init; }

    /// <summary>Parses a message.</summary>
    /// <param name="message">The message.</param>
    /// <param name="id">The command's number, even if the rest of the message is refused, because the client waits for
    /// an answer with this number; 0 if no number was read.</param>
    /// <exception cref="RefusedException">The message is not a command.</exception>
    public static ChangesCommand Read(ReadOnlySpan<byte> message, out long id)
    {
        long readId = 0;
        try
        {
            return JsonBody.Read(message, (ref Utf8JsonReader json) => Read(ref json, ref readId));
        }
        finally
        {
            id = readId;
        }
    }

    private static ChangesCommand Read(ref Utf8JsonReader json, ref long readId)
    {
        long id = 0;
        string name = "";
        string? parameter = null;
        string? secondParameter = null;
        try
        {
            JsonBody.ForEachMember(
                ref json,
                (string member, ref Utf8JsonReader value) =>
                {
                    switch (member)
                    {
                        case "CommandId"
                            when value.TokenType == JsonTokenType.Number && value.TryGetInt64(out long number):
                            id = number;
                            break;
                        case "Command":
                            name = JsonBody.ReadText(ref value, member) ?? "";
                            break;
                        case "Param" when value.TokenType == JsonTokenType.Number && value.TryGetInt64(out long number):
                            parameter = number.ToString(System.Globalization.CultureInfo.InvariantCulture);
                            break;
                        case "Param" when value.TokenType == JsonTokenType.String:
                            parameter = value.GetString();
                            break;
                        case "Params" when value.TokenType == JsonTokenType.StartArray:
                            var texts = JsonBody.ReadTexts(ref value, member, nullText: "");
                            parameter = texts.ElementAtOrDefault(0);
                            secondParameter = texts.ElementAtOrDefault(1);
                            break;
                        default:
                            JsonBody.RequireNull(ref value, member, "a command of the changes feed");
                            break;
                    }
                }
            );
        }
        finally
        {
            readId = id;
        }

        return new ChangesCommand(id, name, parameter) { SecondParameter = secondParameter };
    }
}
