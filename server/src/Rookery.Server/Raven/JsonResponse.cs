using System.Text.Json;
using Microsoft.AspNetCore.Http;

namespace Rookery.Server.Raven;

/// <summary>Sends small answers that are one JSON object.</summary>
internal static class JsonResponse
{
    /// <summary>Sends an object whose members <paramref name="members"/> writes.</summary>
    public static async Task SendAsync(
        HttpContext http,
        Action<Utf8JsonWriter> members,
        int status = StatusCodes.Status200OK
    )
    {
        using var answer = ResponseBuffer.Rent();
        Write(answer, members);
        http.Response.StatusCode = status;
        await answer.SendAsync(http);
    }

    /// <summary>Writes an object whose members <paramref name="members"/> writes.</summary>
    public static void Write(ResponseBuffer answer, Action<Utf8JsonWriter> members)
    {
        using var json = new Utf8JsonWriter(answer);
        json.WriteStartObject();
        members(json);
        json.WriteEndObject();
    }
}
