using System.Text.Json;

namespace Rookery.Server.Configuration;

/// <summary>
/// Reads a configuration file: one JSON object whose members have the names of the options of <c>rookery serve</c>.
/// Unknown members are refused by name and line: an ignored misspelt limit would be noticed too late.
/// </summary>
public static class ConfigurationFile
{
    /// <summary>Reads the settings; a member that is missing in the file stays null.</summary>
    /// <param name="path">Path of the file, for messages.</param>
    /// <param name="bytes">Content of the file.</param>
    /// <exception cref="ConfigurationException">The file is not valid JSON, or a member is unknown or has the wrong
    /// type.</exception>
    public static ServeSettings Parse(string path, ReadOnlySpan<byte> bytes)
    {
        try
        {
            return new Parser(path, bytes).Parse();
        }
        catch (JsonException malformed)
        {
            throw new ConfigurationException(
                $"The configuration file {path} is not valid JSON in line {malformed.LineNumber + 1}."
            );
        }
    }

    private ref struct Parser
    {
        private readonly string _path;
        private readonly ReadOnlySpan<byte> _bytes;
        private Utf8JsonReader _reader;

        public Parser(string path, ReadOnlySpan<byte> bytes)
        {
            _path = path;
            _bytes = bytes;
            _reader = new Utf8JsonReader(bytes);
        }

        public ServeSettings Parse()
        {
            var settings = new ServeSettings();
            var seen = new HashSet<string>(StringComparer.Ordinal);
            _reader.Read();
            Require(
                _reader.TokenType == JsonTokenType.StartObject,
                "must hold one JSON object, and another value begins"
            );
            while (_reader.Read() && _reader.TokenType == JsonTokenType.PropertyName)
            {
                string name = Text();
                Require(seen.Add(name), $"names \"{name}\" a second time");
                settings = ReadSetting(settings, name);
            }

            _reader.Read();
            return settings;
        }

        private ServeSettings ReadSetting(ServeSettings settings, string name) =>
            name switch
            {
                "data" => settings with { Data = ReadText(name) },
                "journal" => settings with { Journal = ReadText(name) },
                "listen" => settings with { Listen = ReadText(name) },
                "peerListen" => settings with { PeerListen = ReadText(name) },
                "tcpListen" => settings with { TcpListen = ReadText(name) },
                "redis" => ReadRedis(settings, name),
                "welcome" => settings with { Welcome = ReadText(name) },
                "peers" => settings with { Peers = ReadText(name) },
                "publicUrl" => settings with { PublicUrl = ReadText(name) },
                "memory" => settings with { Memory = ReadText(name) },
                "machineMetrics" => settings with { MachineMetrics = ReadText(name) },
                "claimCodeFile" => settings with { ClaimCodeFile = ReadText(name) },
                "form" => settings with { Form = ReadForm(name) },
                "webhook" => settings with { Webhook = ReadWebhook(name) },
                "insecure" => settings with { Insecure = ReadFlag(name) },
                _ => throw Invalid($"has the unknown setting \"{name}\""),
            };

        private FormSettings ReadForm(string name)
        {
            int? expect = null;
            string? phraseFile = null;
            _reader.Read();
            Require(_reader.TokenType == JsonTokenType.StartObject, $"gives \"{name}\" a value that is not an object");
            while (_reader.Read() && _reader.TokenType == JsonTokenType.PropertyName)
            {
                string member = Text();
                Require(member is "expect" or "phraseFile", $"has the unknown setting \"{name}.{member}\"");
                Require(
                    member is "expect" ? expect is null : phraseFile is null,
                    $"names \"{name}.{member}\" a second time"
                );
                if (member is "phraseFile")
                {
                    phraseFile = ReadPath($"{name}.{member}");
                    continue;
                }

                _reader.Read();
                Require(
                    _reader.TokenType == JsonTokenType.Number && _reader.TryGetInt32(out _),
                    $"gives \"{name}.{member}\" a value that is not a whole number"
                );
                expect = _reader.GetInt32();
            }

            Require(
                expect is not null && phraseFile is not null,
                $"must say both \"expect\" and \"phraseFile\" in \"{name}\""
            );
            return new FormSettings(expect!.Value, phraseFile!);
        }

        private ServeSettings ReadRedis(ServeSettings settings, string name)
        {
            _reader.Read();
            Require(_reader.TokenType == JsonTokenType.StartObject, $"gives \"{name}\" a value that is not an object");
            while (_reader.Read() && _reader.TokenType == JsonTokenType.PropertyName)
            {
                string member = Text();
                Require(member is "listen" or "database", $"has the unknown setting \"{name}.{member}\"");
                Require(
                    member is "listen" ? settings.Redis is null : settings.RedisDatabase is null,
                    $"names \"{name}.{member}\" a second time"
                );
                string text = ReadText($"{name}.{member}");
                settings = member is "listen" ? settings with { Redis = text } : settings with { RedisDatabase = text };
            }

            return settings;
        }

        private WebhookSettings ReadWebhook(string name)
        {
            var texts = new Dictionary<string, string>(StringComparer.Ordinal);
            _reader.Read();
            Require(_reader.TokenType == JsonTokenType.StartObject, $"gives \"{name}\" a value that is not an object");
            while (_reader.Read() && _reader.TokenType == JsonTokenType.PropertyName)
            {
                string member = Text();
                Require(member is "url" or "form" or "tokenFile", $"has the unknown setting \"{name}.{member}\"");
                Require(!texts.ContainsKey(member), $"names \"{name}.{member}\" a second time");
                string setting = $"{name}.{member}";
                texts[member] = member is "tokenFile" ? ReadPath(setting) : ReadText(setting);
            }

            Require(texts.ContainsKey("url"), $"must say \"url\" in \"{name}\"");
            return new WebhookSettings(
                texts["url"],
                texts.GetValueOrDefault("form"),
                texts.GetValueOrDefault("tokenFile")
            );
        }

        private string ReadText(string name)
        {
            _reader.Read();
            Require(_reader.TokenType == JsonTokenType.String, $"gives \"{name}\" a value that is not a string");
            string text = Text();
            Require(!text.Contains('\0', StringComparison.Ordinal), $"has a NUL character in \"{name}\"");
            return text;
        }

        // An empty path would be the directory in which the node was started.
        private string ReadPath(string name)
        {
            string path = ReadText(name);
            Require(!string.IsNullOrWhiteSpace(path), $"gives \"{name}\" an empty path");
            return path;
        }

        private readonly string Text()
        {
            try
            {
                return _reader.GetString()!;
            }
            catch (InvalidOperationException)
            {
                throw Invalid("has a text that is not UTF-8, or has half of a surrogate pair,");
            }
        }

        private bool ReadFlag(string name)
        {
            _reader.Read();
            Require(
                _reader.TokenType is JsonTokenType.True or JsonTokenType.False,
                $"gives \"{name}\" a value that is not true or false"
            );
            return _reader.GetBoolean();
        }

        private readonly void Require(bool condition, string problem)
        {
            if (!condition)
            {
                throw Invalid(problem);
            }
        }

        private readonly ConfigurationException Invalid(string problem)
        {
            int line = 1 + _bytes[..(int)_reader.TokenStartIndex].Count((byte)'\n');
            return new ConfigurationException($"The configuration file {_path} {problem} in line {line}.");
        }
    }
}
