// Package rendering is the resource and the list kalypso_environment_rendering.
package rendering
