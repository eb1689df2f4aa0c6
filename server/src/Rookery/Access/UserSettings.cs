using System.Text.Json;
using Rookery.Hosting;

namespace Rookery.Access;

/// <summary>
/// The user's settings, which are the defaults of commands. Their file is ~/.config/rookery/config.json, or the same
/// below XDG_CONFIG_HOME; `rookery login` writes it.
/// </summary>
/// <param name="Urls">The addresses of the cluster's nodes.</param>
/// <param name="Token">The token to send to these addresses only.</param>
/// <param name="Authority">A PEM file with the cluster's authority.</param>
/// <param name="Database">The database that `.` stands for.</param>
internal sealed record UserSettings(IReadOnlyList<string> Urls, string? Token, string? Authority, string? Database)
{
    private const UnixFileMode AccessOfOthers =
        UnixFileMode.GroupRead
        | UnixFileMode.GroupWrite
        | UnixFileMode.GroupExecute
        | UnixFileMode.OtherRead
        | UnixFileMode.OtherWrite
        | UnixFileMode.OtherExecute;

    /// <summary>The settings without a file.</summary>
    public static UserSettings Nothing { get; } = new([], null, null, null);

    /// <summary>The file's path; null for a user without a home directory.</summary>
    public static string? FileName
    {
        get
        {
            if (Environment.GetEnvironmentVariable("XDG_CONFIG_HOME") is { Length: > 0 } xdg && Path.IsPathRooted(xdg))
            {
                return Path.Join(xdg, "rookery", "config.json");
            }

            if (Environment.GetEnvironmentVariable("HOME") is { Length: > 0 } home)
            {
                return Path.Join(home, ".config", "rookery", "config.json");
            }

            return null;
        }
    }

    /// <summary>Reads the file; <see cref="Nothing"/> if it does not exist.</summary>
    /// <exception cref="AdminException">The file cannot be read, is invalid, or contains a token and other users may
    /// read it.</exception>
    public static UserSettings Read()
    {
        if (FileName is not { } path || !File.Exists(path))
        {
            return Nothing;
        }

        var settings = Parse(path, NodeAddress.ReadFile(path));
        return settings.Token is not null && (File.GetUnixFileMode(path) & AccessOfOthers) != UnixFileMode.None
            ? throw InvalidFile(
                path,
                $"contains a token and other users may access it, so it is not read: chmod 600 {path}"
            )
            : settings;
    }

    /// <summary>Replaces the file, with access for its owner only.</summary>
    /// <exception cref="AdminException">The file cannot be written.</exception>
    public string Write()
    {
        string path =
            FileName
            ?? throw new AdminException(
                "HOME is not set, so there is no directory for the settings. Set HOME or XDG_CONFIG_HOME.",
                ExitCode.Configuration
            );
        try
        {
            Directory.CreateDirectory(
                Path.GetDirectoryName(path)!,
                UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute
            );
            File.Delete(path + ".new");
            using (
                Stream file = File.Open(
                    path + ".new",
                    new FileStreamOptions
                    {
                        Mode = FileMode.CreateNew,
                        Access = FileAccess.Write,
                        UnixCreateMode = UnixFileMode.UserRead | UnixFileMode.UserWrite,
                    }
                )
            )
            {
                WriteJson(file);
            }

            Transfer.ExportDownload.SyncContent(path + ".new");

            File.Move(path + ".new", path, overwrite: true);
            return path;
        }
        catch (Exception failure) when (failure is IOException or UnauthorizedAccessException)
        {
            throw new AdminException($"The settings cannot be written to {path}: {failure.Message}", ExitCode.Failure);
        }
    }

    /// <summary>Returns whether all of these addresses are in the file.</summary>
    public bool ContainsAll(IEnumerable<Uri> addresses)
    {
        Uri[] own = [.. Urls.Select(static url => new Uri(url))];
        return addresses.All(address => own.Contains(address));
    }

    /// <summary>Parses the file's text.</summary>
    /// <exception cref="AdminException">The text is not the JSON of a valid settings object.</exception>
    internal static UserSettings Parse(string path, string text)
    {
        // The reader of the file replaces invalid bytes by this character.
        if (text.Contains('\uFFFD', StringComparison.Ordinal))
        {
            throw InvalidFile(path, "is not valid UTF-8");
        }

        try
        {
            return ParseJson(path, text);
        }
        catch (JsonException malformed)
        {
            throw InvalidFile(path, $"is not valid JSON in line {malformed.LineNumber + 1}");
        }
        catch (InvalidOperationException)
        {
            throw InvalidFile(path, "has a text with half of a surrogate pair");
        }
    }

    private static UserSettings ParseJson(string path, string text)
    {
        using var json = JsonDocument.Parse(text);
        if (json.RootElement.ValueKind != JsonValueKind.Object)
        {
            throw InvalidFile(path, "must hold one JSON object");
        }

        var settings = Nothing;
        var seen = new HashSet<string>(StringComparer.Ordinal);
        foreach (var member in json.RootElement.EnumerateObject())
        {
            if (!seen.Add(member.Name))
            {
                throw InvalidFile(path, $"names \"{member.Name}\" a second time");
            }

            settings = member.Name switch
            {
                "url" => settings with { Urls = UrlsOf(path, member.Value) },
                "token" => settings with { Token = TextOf(path, member) },
                "ca" => settings with { Authority = TextOf(path, member) },
                "database" => settings with { Database = TextOf(path, member) },
                _ => throw InvalidFile(
                    path,
                    $"has the unknown member \"{member.Name}\"; known are url, token, ca and database"
                ),
            };
        }

        return settings;
    }

    private static string[] UrlsOf(string path, JsonElement value)
    {
        string[] urls = value.ValueKind switch
        {
            JsonValueKind.String => [value.GetString()!],
            JsonValueKind.Array when value.EnumerateArray().All(static url => url.ValueKind == JsonValueKind.String) =>
            [
                .. value.EnumerateArray().Select(static url => url.GetString()!),
            ],
            _ => throw InvalidFile(path, "must have in \"url\" an address, or a list of them"),
        };
        return Array.Find(urls, static url => !NodeAddress.IsAddress(url)) is { } invalid
            ? throw InvalidFile(
                path,
                $"has in \"url\" the value \"{invalid}\", which is not an address such as {NodeAddress.DefaultUrl}"
            )
            : urls;
    }

    private static string? TextOf(string path, JsonProperty member) =>
        member.Value.ValueKind switch
        {
            JsonValueKind.Null => null,
            JsonValueKind.String when member.Value.GetString() is var text => text!.Contains('\0')
                ? throw InvalidFile(path, $"has a NUL character in \"{member.Name}\"")
                : text,
            _ => throw InvalidFile(path, $"must have a string in \"{member.Name}\""),
        };

    // The problem continues a sentence that begins with the file.
    private static AdminException InvalidFile(string path, string problem) =>
        new($"The file {path} {problem}.", ExitCode.Configuration);

    private void WriteJson(Stream file)
    {
        using var json = new Utf8JsonWriter(file, new JsonWriterOptions { Indented = true });
        json.WriteStartObject();
        json.WriteStartArray("url"u8);
        foreach (string url in Urls)
        {
            json.WriteStringValue(url);
        }

        json.WriteEndArray();
        WriteIfPresent(json, "token"u8, Token);
        WriteIfPresent(json, "ca"u8, Authority);
        WriteIfPresent(json, "database"u8, Database);
        json.WriteEndObject();
    }

    private static void WriteIfPresent(Utf8JsonWriter json, ReadOnlySpan<byte> name, string? value)
    {
        if (value is not null)
        {
            json.WriteString(name, value);
        }
    }
}
