using System.CommandLine;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using Rookery.Hosting;
using Rookery.Platform;

namespace Rookery.Access;

/// <summary>
/// The options by which a command finds a running node and says who it is: --data on the node's machine, otherwise
/// --url with --token-file and --ca. What no option says, the environment says; what that does not, the
/// <see cref="UserSettings">user's file</see>.
/// </summary>
/// <param name="isRemote">Whether the command has a meaning of its own for --data, and no answer that is JSON.</param>
internal sealed class NodeAddress(bool isRemote = false)
{
    /// <summary>Where a node listens when nothing else was said.</summary>
    public const string DefaultUrl = "http://127.0.0.1:8080";
    private const string UrlVariable = "ROOKERY_URL";
    private const string TokenVariable = "ROOKERY_TOKEN";
    private const string AuthorityVariable = "ROOKERY_CA";
    private const string DatabaseVariable = "ROOKERY_DATABASE";

    private readonly Option<string?> _data = new("--data")
    {
        Description = "Data directory of a node that runs here: reaches it by its own address, as root or its user.",
        HelpName = "DIR",
    };
    private readonly Option<string[]> _url = new("--url")
    {
        Description =
            $"Address of a running node; several may be named, of which the first that answers is asked "
            + $"[default: the environment's {UrlVariable}, then what `rookery login` wrote down, then "
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
        Description =
            "Print what the node has that is asked, also while no majority of the voters sees each other; it "
            + "may be older.",
    };
    private UserSettings? _settings;
    private bool _hasLocal;

    /// <summary>Adds the options to a command.</summary>
    public Command AddTo(Command command)
    {
        foreach (
            var option in isRemote
                ? (Option[])[_url, _tokenFile, _authority]
                : [_data, _url, _tokenFile, _authority, _json]
        )
        {
            command.Options.Add(option);
        }

        return command;
    }

    /// <summary>Adds the options to a command that reads, with the one that takes what a node has.</summary>
    public Command AddToRead(Command command)
    {
        _hasLocal = true;
        command.Options.Add(_local);
        return AddTo(command);
    }

    /// <summary>Whether what the node has will do, though it may be older.</summary>
    public bool IsLocal(ParseResult parsed) => parsed.GetValue(_local);

    /// <summary>Whether the answer is printed as it came.</summary>
    public bool IsJson(ParseResult parsed) => parsed.GetValue(_json);

    /// <summary>The directory on this machine; null when the node is named by its address.</summary>
    public string? Directory(ParseResult parsed) =>
        !isRemote && parsed.GetValue(_data) is { } directory ? Path.GetFullPath(directory) : null;

    /// <summary>Whether a running node was named by its address.</summary>
    public bool IsNamed(ParseResult parsed) => parsed.GetValue(_url) is { Length: > 0 };

    /// <summary>Whether a text is an address of a node.</summary>
    public static bool IsAddress(string text) =>
        Uri.TryCreate(text, UriKind.Absolute, out var address) && address.Scheme is "http" or "https";

    /// <summary>The database that a name means: `.` is the user's own choice.</summary>
    /// <exception cref="AdminException">He has none.</exception>
    public string DatabaseOf(string name) =>
        name is not "." ? name
        : Environment.GetEnvironmentVariable(DatabaseVariable) is { Length: > 0 } said ? said
        : Settings.Database
            ?? throw new AdminException(
                $"`.` stands for a database that is named once: with `rookery login URL --database NAME`, or "
                    + $"in the environment's {DatabaseVariable}.",
                ExitCode.Configuration
            );

    private UserSettings Settings => _settings ??= UserSettings.Read();

    /// <summary>Runs work that talks to the node, and turns what goes wrong into a sentence and a code.</summary>
    public Task<int> UseAsync(ParseResult parsed, Func<AdminClient, Task<int>> work) =>
        Refusal.GuardAsync(async () =>
        {
            var node = await ConnectAsync(parsed);
            using var client = new AdminClient(node, TimeProvider.System);
            return await ForeignAnswer.GuardAsync(() => node.Address, () => work(client));
        });

    /// <summary>
    /// Runs work that talks to the node in its own way, and turns what goes wrong into a sentence and a code.
    /// </summary>
    public Task<int> UseAsync(ParseResult parsed, Func<NodeConnection, Task<int>> work) =>
        Refusal.GuardAsync(async () =>
        {
            var node = await ConnectAsync(parsed);
            return await ForeignAnswer.GuardAsync(() => node.Address, () => work(node));
        });

    /// <summary>
    /// Runs work with documents, which may take as long as it takes, and turns what goes wrong into a sentence and a
    /// code.
    /// </summary>
    public Task<int> WorkAsync(ParseResult parsed, Func<NodeClient, Task<int>> work) =>
        Refusal.GuardAsync(async () =>
        {
            var named = ConnectAll(parsed);
            using var client = new NodeClient(await NodeChoice.FirstThatAnswersAsync(named), named);
            return await ForeignAnswer.GuardAsync(() => client.Address, () => work(client));
        });

    /// <summary>The text of a file that an option names.</summary>
    /// <exception cref="AdminException">It cannot be read.</exception>
    public static string ReadFile(string path)
    {
        try
        {
            return File.ReadAllText(path);
        }
        catch (Exception unreadable) when (unreadable is IOException or UnauthorizedAccessException)
        {
            throw new AdminException($"The file {path} cannot be read.", ExitCode.Configuration);
        }
    }

    /// <summary>The node that the options name, or the first that answers of several.</summary>
    /// <exception cref="AdminException">They contradict each other, name what is not there, or none
    /// answers.</exception>
    public async Task<NodeConnection> ConnectAsync(ParseResult parsed) =>
        await NodeChoice.FirstThatAnswersAsync(ConnectAll(parsed));

    /// <summary>The nodes that the options name, at least one.</summary>
    /// <exception cref="AdminException">They contradict each other, or name what is not there.</exception>
    public IReadOnlyList<NodeConnection> ConnectAll(ParseResult parsed)
    {
        if (Directory(parsed) is { } directory)
        {
            return IsNamed(parsed)
                ? throw new AdminException(
                    "--data finds the node by itself and --url names it; give one of them.",
                    ExitCode.Configuration
                )
                : [ConnectTo(directory) with { HasLocalReads = _hasLocal }];
        }

        string[] said =
            IsNamed(parsed) ? parsed.GetValue(_url)!
            : Environment.GetEnvironmentVariable(UrlVariable) is { Length: > 0 } variable ? [variable]
            : [.. Settings.Urls];
        bool isDefault = said.Length == 0;
        Uri[] addresses = isDefault
            ? [new Uri(DefaultUrl)]
            :
            [
                .. said.SelectMany(static urls =>
                        urls.Split(',', StringSplitOptions.TrimEntries | StringSplitOptions.RemoveEmptyEntries)
                    )
                    .Select(AddressOf),
            ];
        if (addresses.Length == 0)
        {
            throw new AdminException($"\"{said[0]}\" is not an address such as {DefaultUrl}.", ExitCode.Configuration);
        }

        bool isOfFile = !isDefault && Settings.Urls.Count > 0 && Settings.Knows(addresses);
        string? token = TokenOf(parsed, addresses, isDefault, isOfFile);
        string? pem =
            parsed.GetValue(_authority)
            ?? Environment.GetEnvironmentVariable(AuthorityVariable)
            ?? (isOfFile ? Settings.Authority : null);
        var authorities = string.IsNullOrEmpty(pem) ? null : ReadPem(ReadFile(pem), pem);
        return
        [
            .. addresses.Select(address => new NodeConnection(
                address,
                string.IsNullOrEmpty(token) ? null : token,
                authorities
            )
            {
                IsFoundByData = !isRemote,
                HasLocalReads = _hasLocal,
            }),
        ];
    }

    private static NodeConnection ConnectTo(string directory)
    {
        var disk = new PosixDisk();
        var local =
            LocalAccess.TryRead(disk, directory)
            ?? throw new AdminException(
                disk.Exists(directory)
                    ? $"No node was started on {directory} yet. Name the address of a running one with --url."
                    : $"There is no directory {directory}.",
                ExitCode.Configuration
            );
        return NodeConnection.Of(local, disk, directory);
    }

    private static Uri AddressOf(string text) =>
        IsAddress(text)
            ? new Uri(text)
            : throw new AdminException($"\"{text}\" is not an address such as {DefaultUrl}.", ExitCode.Configuration);

    private string? TokenOf(ParseResult parsed, Uri[] addresses, bool isDefault, bool isOfFile)
    {
        // Whatever happens to listen at the default address was not meant to have it; nor was another node than the
        // file's to have the file's.
        string? tokenFile = parsed.GetValue(_tokenFile);
        string? variable = isDefault ? null : Environment.GetEnvironmentVariable(TokenVariable);
        string? token =
            tokenFile is not null ? ReadFile(tokenFile).Trim()
            : string.IsNullOrEmpty(variable) && isOfFile ? Settings.Token
            : variable;
        if (token?.AsSpan().IndexOfAnyExceptInRange('!', '~') >= 0)
        {
            string source =
                tokenFile
                ?? (
                    string.IsNullOrEmpty(variable)
                        ? $"The file {UserSettings.FileName}"
                        : $"The environment's {TokenVariable}"
                );
            throw new AdminException(
                $"{source} holds no token: one is a single line of letters, digits and signs, as `rookery "
                    + $"token create` prints it.",
                ExitCode.Configuration
            );
        }

        return
            string.IsNullOrEmpty(token)
            || Array.Find(addresses, static address => address.Scheme is "http" && !address.IsLoopback) is not { } open
            ? token
            : throw new AdminException(
                $"A token is not sent to {open} over plain HTTP, where everybody on the way can read it. "
                    + $"Name an https address, or leave the token away: plain HTTP asks for none.",
                ExitCode.Configuration
            );
    }

    /// <summary>The certificates of a PEM file.</summary>
    /// <exception cref="AdminException">There is none in it.</exception>
    public static X509Certificate2Collection ReadPem(string text, string path)
    {
        var authorities = new X509Certificate2Collection();
        try
        {
            authorities.ImportFromPem(text);
        }
        catch (CryptographicException)
        {
            // Said below, as for a file without a certificate.
        }

        return authorities.Count > 0
            ? authorities
            : throw new AdminException($"{path} holds no certificate in PEM.", ExitCode.Configuration);
    }
}

/// <summary>A command could not do what it was asked.</summary>
/// <param name="message">One sentence for the user.</param>
/// <param name="code">How the process ends.</param>
internal sealed class AdminException(string message, int code) : Exception(message)
{
    public int Code => code;
}
