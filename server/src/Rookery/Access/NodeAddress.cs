using System.CommandLine;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using Rookery.Data;
using Rookery.Documents.Nodes;
using Rookery.Hosting;
using Rookery.Platform;
using Rookery.Server.Configuration;

namespace Rookery.Access;

/// <summary>
/// The options by which a command finds a running node and authenticates: --data on the node's machine, otherwise --url
/// with --token-file and --ca. Defaults come from the environment, then from the <see cref="UserSettings">user's
/// file</see>.
/// </summary>
/// <param name="hasDataAndJson">Whether the command has --data for a running node, and --json.</param>
internal sealed class NodeAddress(bool hasDataAndJson = true)
{
    /// <summary>The address of a node with the default configuration.</summary>
    public const string DefaultUrl = "http://127.0.0.1:8080";
    private const string UrlVariable = "ROOKERY_URL";
    private const string TokenVariable = "ROOKERY_TOKEN";
    private const string AuthorityVariable = "ROOKERY_CA";
    private const string DatabaseVariable = "ROOKERY_DATABASE";

    private readonly Option<string?> _data = new("--data")
    {
        Description = "Data directory of a node that runs on this machine: connects to it as root or the node's user.",
        HelpName = "DIR",
    };
    private readonly Option<string[]> _url = new("--url")
    {
        Description =
            $"Address of a running node; of several, the first that answers is used "
            + $"[default: the environment's {UrlVariable}, then what `rookery login` saved, then "
            + $"{DefaultUrl}].",
        HelpName = "URL",
    };
    private readonly Option<string?> _tokenFile = new("--token-file")
    {
        Description =
            $"File with the token to send [default: the environment's {TokenVariable}, where an address is "
            + $"named, then that of `rookery login`].",
        HelpName = "FILE",
    };
    private readonly Option<string?> _authority = new("--ca")
    {
        Description =
            $"PEM file with the cluster's authority [default: the environment's {AuthorityVariable}, then "
            + $"that of `rookery login`, then those that the system trusts].",
        HelpName = "FILE",
    };
    private readonly Option<bool> _json = new("--json") { Description = "Print the answer as JSON." };
    private readonly Option<bool> _local = new("--local")
    {
        Description = "Read the node's own state, which may be older; works without a majority of the voters, too.",
    };
    private UserSettings? _settings;
    private bool _hasLocal;

    /// <summary>Adds the options to a command.</summary>
    public Command AddTo(Command command)
    {
        Option[] options = hasDataAndJson
            ? [_data, _url, _tokenFile, _authority, _json]
            : [_url, _tokenFile, _authority];
        foreach (var option in options)
        {
            command.Options.Add(option);
        }

        return command;
    }

    /// <summary>Adds the options to a command that reads, including --local.</summary>
    public Command AddToRead(Command command)
    {
        _hasLocal = true;
        command.Options.Add(_local);
        return AddTo(command);
    }

    /// <summary>Whether --local was given: the node's own, possibly older state is enough.</summary>
    public bool IsLocal(ParseResult parsed) => parsed.GetValue(_local);

    /// <summary>Whether --json was given: the node's response is printed unchanged.</summary>
    public bool IsJson(ParseResult parsed) => parsed.GetValue(_json);

    /// <summary>The data directory given by --data; null if the node is named by its address.</summary>
    public string? Directory(ParseResult parsed) =>
        hasDataAndJson && parsed.GetValue(_data) is { } directory ? DirectoryPath.Absolute(directory) : null;

    /// <summary>
    /// Returns the first option that was given of those for a node that is found by its address: --url, --token-file or
    /// --ca; null if none was. Beside --data each of them would be ignored: a token file, for example, would seem to
    /// have the rights of the node's own user.
    /// </summary>
    public string? OptionOfAddress(ParseResult parsed) =>
        HasUrl(parsed) ? _url.Name
        : parsed.GetValue(_tokenFile) is not null ? _tokenFile.Name
        : parsed.GetValue(_authority) is not null ? _authority.Name
        : null;

    /// <summary>Returns whether a text is a URL of a node.</summary>
    public static bool IsAddress(string text) => ProblemOf(text, DefaultUrl) is null;

    /// <summary>
    /// Returns an address with the scheme that it lacks: http for this machine, https for others, where nodes serve
    /// plain HTTP only if they are told to. Writes to stderr which one that is. Returns other texts unchanged.
    /// </summary>
    public static string Complete(string text)
    {
        if (
            text.Contains("://", StringComparison.Ordinal)
            || !Uri.TryCreate($"http://{text}", UriKind.Absolute, out var address)
        )
        {
            return text;
        }

        string completed = address.IsLoopback ? $"http://{text}" : $"https://{text}";
        if (IsAddress(completed))
        {
            Console.Error.WriteLine($"\"{text}\" has no scheme; this command uses {completed}.");
            return completed;
        }

        return text;
    }

    /// <summary>Returns why a text is not an address of a node, in one sentence; null if it is one.</summary>
    /// <param name="text">The text.</param>
    /// <param name="example">An address for the sentence.</param>
    public static string? ProblemOf(string text, string example)
    {
        if (!Uri.TryCreate(text, UriKind.Absolute, out var address) || address.Scheme is not ("http" or "https"))
        {
            return $"\"{ShownUrl.Of(text)}\" is not an address such as {example}.";
        }

        // All requests go to the root, so what follows the port would be ignored.
        string root = $"{address.Scheme}://{address.Authority}";
        return
            address.UserInfo.Length > 0
            || address.AbsolutePath is not "/"
            || address.Query.Length > 0
            || address.Fragment.Length > 0
            ? $"\"{ShownUrl.Of(text)}\" is more than the address of a node. Name only {root}."
            : null;
    }

    /// <summary>Returns the database that an argument names. `.` is the user's default database.</summary>
    /// <exception cref="AdminException">The user has no default database.</exception>
    public string DatabaseOf(string name)
    {
        if (name is not ".")
        {
            return name;
        }

        if (Environment.GetEnvironmentVariable(DatabaseVariable) is { Length: > 0 } fromEnvironment)
        {
            return fromEnvironment;
        }

        return Settings.Database
            ?? throw new AdminException(
                $"`.` stands for your default database, and you have none. Set it with `rookery login URL --database "
                    + $"NAME`, or in the environment's {DatabaseVariable}.",
                ExitCode.Configuration
            );
    }

    private bool HasUrl(ParseResult parsed) => parsed.GetValue(_url) is { Length: > 0 };

    private UserSettings Settings => _settings ??= UserSettings.Read();

    /// <summary>Runs work with an administrative client, and turns errors into a message and an exit code.</summary>
    public Task<int> UseAsync(ParseResult parsed, Func<AdminClient, Task<int>> work) =>
        Refusal.GuardAsync(async () =>
        {
            var node = await ConnectAsync(parsed);
            using var client = new AdminClient(node, TimeProvider.System);
            return await ForeignAnswer.GuardAsync(() => node.Address, () => work(client));
        });

    /// <summary>Runs work with a connection, and turns errors into a message and an exit code.</summary>
    public Task<int> UseAsync(ParseResult parsed, Func<NodeConnection, Task<int>> work) =>
        Refusal.GuardAsync(async () =>
        {
            var node = await ConnectAsync(parsed);
            return await ForeignAnswer.GuardAsync(() => node.Address, () => work(node));
        });

    /// <summary>
    /// Runs work with a client whose requests may take long, and turns errors into a message and an exit code.
    /// </summary>
    public Task<int> WorkAsync(ParseResult parsed, Func<NodeClient, Task<int>> work) =>
        Refusal.GuardAsync(async () =>
        {
            var named = ConnectAll(parsed);
            using var client = new NodeClient(await NodeChoice.FirstThatAnswersAsync(named), named);
            return await ForeignAnswer.GuardAsync(() => client.Address, () => work(client));
        });

    /// <summary>Reads the text of a file that an option names: a token, certificates, settings.</summary>
    /// <exception cref="AdminException">The file cannot be read, or is too large.</exception>
    public static string ReadFile(string path)
    {
        const int MaxCharacters = 1 << 20;
        try
        {
            using var file = new StreamReader(path);
            char[] text = new char[MaxCharacters + 1];
            int length = file.ReadBlock(text);
            return length <= MaxCharacters
                ? new string(text, 0, length)
                : throw new AdminException(
                    $"The file {path} holds more than 1 MiB, which is too large for this option.",
                    ExitCode.Configuration
                );
        }
        catch (Exception unreadable) when (unreadable is IOException or UnauthorizedAccessException)
        {
            throw InputFile.Refuse(path, unreadable);
        }
    }

    /// <summary>Returns the node that the options name, or the first of several that answers.</summary>
    /// <exception cref="AdminException">The options contradict each other, a file or directory does not exist, or no
    /// node answers.</exception>
    public async Task<NodeConnection> ConnectAsync(ParseResult parsed) =>
        await NodeChoice.FirstThatAnswersAsync(ConnectAll(parsed));

    /// <summary>Returns the nodes that the options name, at least one.</summary>
    /// <exception cref="AdminException">The options contradict each other, or a file or directory does not
    /// exist.</exception>
    public IReadOnlyList<NodeConnection> ConnectAll(ParseResult parsed)
    {
        if (Directory(parsed) is { } directory)
        {
            return OptionOfAddress(parsed) is { } option
                ? throw new AdminException(
                    $"--data finds the node by its directory, and {option} is for one that is found by its address. "
                        + "Leave one of them out.",
                    ExitCode.Configuration
                )
                : [ConnectTo(directory) with { HasLocalReads = _hasLocal }];
        }

        string[] named = NamedAddresses(parsed);
        bool isDefault = named.Length == 0;
        Uri[] addresses = isDefault ? [new Uri(DefaultUrl)] : [.. named.SelectMany(SplitUrls).Select(AddressOf)];
        if (addresses.Length == 0)
        {
            throw new AdminException($"\"{named[0]}\" is not an address such as {DefaultUrl}.", ExitCode.Configuration);
        }

        bool areFromSettings = !isDefault && Settings.Urls.Count > 0 && Settings.ContainsAll(addresses);
        string? token = TokenOf(parsed, addresses, isDefault, areFromSettings);
        string? pem =
            parsed.GetValue(_authority)
            ?? Environment.GetEnvironmentVariable(AuthorityVariable)
            ?? (areFromSettings ? Settings.Authority : null);
        var authorities = string.IsNullOrEmpty(pem) ? null : ReadPem(ReadFile(pem), pem);
        return
        [
            .. addresses.Select(address => new NodeConnection(
                address,
                string.IsNullOrEmpty(token) ? null : token,
                authorities
            )
            {
                IsFoundByData = hasDataAndJson,
                NoAnswerHint = ChooseNoAnswerHint(parsed, isDefault),
                HasLocalReads = _hasLocal,
            }),
        ];
    }

    // Returns the addresses of --url, of the environment or of the user's file; empty if there are none. An element may
    // be several addresses, separated by commas.
    private string[] NamedAddresses(ParseResult parsed)
    {
        if (HasUrl(parsed))
        {
            return parsed.GetValue(_url)!;
        }

        return Environment.GetEnvironmentVariable(UrlVariable) is { Length: > 0 } variable
            ? [variable]
            : [.. Settings.Urls];
    }

    private static string[] SplitUrls(string urls) =>
        urls.Split(',', StringSplitOptions.TrimEntries | StringSplitOptions.RemoveEmptyEntries);

    /// <summary>Returns the sentence on what to check or to name if no node answers.</summary>
    private string ChooseNoAnswerHint(ParseResult parsed, bool isDefault)
    {
        if (HasUrl(parsed))
        {
            return "Check the address of --url, and whether the node runs.";
        }

        if (isDefault)
        {
            return hasDataAndJson
                ? "Name its address with --url, or its data directory with --data."
                : "Name its address with --url.";
        }

        return Environment.GetEnvironmentVariable(UrlVariable) is { Length: > 0 }
            ? $"The environment's {UrlVariable} names that address; --url names another."
            : "`rookery login` saved that address; --url names another.";
    }

    private static NodeConnection ConnectTo(string directory)
    {
        var disk = new PosixDisk();
        var local =
            LocalAccess.TryRead(disk, directory)
            ?? throw new AdminException(
                disk.Exists(directory)
                    ? $"No node was started on {directory} yet. Start one, or name the address of a running one "
                        + $"with --url."
                    : $"There is no directory {directory}.",
                ExitCode.Configuration
            );
        return NodeConnection.Of(local, disk, directory);
    }

    private static Uri AddressOf(string text)
    {
        string completed = Complete(text);
        return ProblemOf(completed, DefaultUrl) is { } problem
            ? throw new AdminException(problem, ExitCode.Configuration)
            : new Uri(completed);
    }

    private string? TokenOf(ParseResult parsed, Uri[] addresses, bool isDefault, bool areFromSettings)
    {
        // Another server could listen at an address. So the environment's token is not sent to the default address, and
        // the token of the user's file only to the addresses in that file.
        string? tokenFile = parsed.GetValue(_tokenFile);
        string? variable = isDefault ? null : Environment.GetEnvironmentVariable(TokenVariable);
        string? token =
            tokenFile is not null ? ReadFile(tokenFile).Trim()
            : string.IsNullOrEmpty(variable) && areFromSettings ? Settings.Token
            : variable;
        if (
            token?.AsSpan().IndexOfAnyExceptInRange('!', '~') >= 0
            || (tokenFile is not null && string.IsNullOrEmpty(token))
        )
        {
            string defaultSource = string.IsNullOrEmpty(variable)
                ? $"The file {UserSettings.FileName}"
                : $"The environment's {TokenVariable}";
            string source = tokenFile ?? defaultSource;
            throw new AdminException(
                $"{source} holds no token: a token is a single line of letters, digits and signs, as `rookery "
                    + $"token create` prints it.",
                ExitCode.Configuration
            );
        }

        Uri? insecure = Array.Find(addresses, static address => address.Scheme is "http" && !address.IsLoopback);
        if (!string.IsNullOrEmpty(token) && insecure is not null)
        {
            throw new AdminException(
                $"A token is not sent to {insecure} over plain HTTP, where others on the network can read it. "
                    + $"Use an https address, or omit the token: plain HTTP needs none.",
                ExitCode.Configuration
            );
        }

        return token;
    }

    /// <summary>Parses the certificates of a PEM file.</summary>
    /// <exception cref="AdminException">It contains no certificate.</exception>
    public static X509Certificate2Collection ReadPem(string text, string path)
    {
        var authorities = new X509Certificate2Collection();
        try
        {
            authorities.ImportFromPem(text);
        }
        catch (CryptographicException)
        {
            // Reported below, as for a file without a certificate.
        }

        return authorities.Count > 0
            ? authorities
            : throw new AdminException($"{path} contains no certificate in PEM format.", ExitCode.Configuration);
    }
}

/// <summary>Thrown if a command fails.</summary>
/// <param name="message">One sentence for the user.</param>
/// <param name="code">The exit code.</param>
internal sealed class AdminException(string message, int code) : Exception(message)
{
    public int Code => code;
}
