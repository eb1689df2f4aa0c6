using System.Runtime.CompilerServices;

namespace Rookery.Server.Raven;

/// <summary>
/// The names of the members of one JSON object that were read so far. A member that occurs twice is refused, because
/// only one of its values would have an effect. Allocates nothing for the few members of an ordinary body.
/// </summary>
internal struct MemberNames
{
    private const int FewNames = 8;

    private FirstNames _first;
    private int _count;
    private HashSet<string>? _others;

    /// <summary>Adds a name.</summary>
    /// <exception cref="RefusedException">The object has a member with that name already (400).</exception>
    public void Add(string name)
    {
        bool isNew = true;
        for (int i = 0; i < Math.Min(_count, FewNames); i++)
        {
            isNew &= !string.Equals(_first[i], name, StringComparison.Ordinal);
        }

        if (isNew && _count >= FewNames)
        {
            _others ??= new HashSet<string>(StringComparer.Ordinal);
            isNew = _others.Add(name);
        }

        if (!isNew)
        {
            throw RefusedException.BadRequest($"An object of the body contains the member '{name}' twice.");
        }

        if (_count < FewNames)
        {
            _first[_count] = name;
        }

        _count++;
    }

    [InlineArray(FewNames)]
    private struct FirstNames
    {
        private string? _name;
    }
}
